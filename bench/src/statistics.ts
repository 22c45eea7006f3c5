/** Quantile of some figures, `q` from 0 to 1, by the nearest rank. */
export function quantile(figures: readonly number[], q: number): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? Number.NaN
}

export const median = (figures: readonly number[]): number => quantile(figures, 0.5)

/** Median of the ratios of two series that were measured in turn, so that both ran under the same conditions. */
export function pairedRatio(a: readonly number[], b: readonly number[]): number {
  return median(a.map((figure, i) => figure / (b[i] as number)))
}

/**
 * The exponent k of y = c · x^k that fits best: least squares in the logarithms of both. 0: independent of size, 1: in
 * proportion to it. NaN with fewer than two sizes, or when a figure is not above 0.
 */
export function growthExponent(points: readonly { x: number; y: number }[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }))
  const meanX = logs.reduce((sum, { x }) => sum + x, 0) / logs.length
  const meanY = logs.reduce((sum, { y }) => sum + y, 0) / logs.length
  const together = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  const squares = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return squares === 0 || !Number.isFinite(together) ? Number.NaN : together / squares
}
