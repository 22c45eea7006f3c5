/** Quantile of some figures, 0..1, by the nearest rank. */
export function quantile(figures: readonly number[], q: number): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? Number.NaN
}

export const median = (figures: readonly number[]): number => quantile(figures, 0.5)

/** Median of the ratios of two series that were measured in turn, so that both saw the same machine. */
export function pairedRatio(a: readonly number[], b: readonly number[]): number {
  return median(a.map((figure, i) => figure / (b[i] as number)))
}
