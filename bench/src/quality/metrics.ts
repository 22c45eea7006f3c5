/** The share of all gold that is among the first k. */
export function recallAt(k: number, found: readonly string[], gold: readonly string[]): number {
  const wanted = new Set(gold)
  return new Set(found.slice(0, k).filter((id) => wanted.has(id))).size / wanted.size
}

/** Whether all gold is among the first k. */
export const allAt = (k: number, found: readonly string[], gold: readonly string[]): number =>
  recallAt(k, found, gold) === 1 ? 1 : 0

/** The share of the first k that is gold. */
export const precisionAt = (k: number, found: readonly string[], gold: readonly string[]): number =>
  (recallAt(k, found, gold) * new Set(gold).size) / k

/** One over the rank of the first gold result, 0 when none is among the first ten. */
export function reciprocalRank(found: readonly string[], gold: readonly string[]): number {
  const first = found.slice(0, 10).findIndex((id) => gold.includes(id))
  return first === -1 ? 0 : 1 / (first + 1)
}

/** Normalised discounted cumulative gain at 10 with binary relevance (Järvelin & Kekäläinen 2002). */
export function ndcg(found: readonly string[], gold: readonly string[]): number {
  const wanted = new Set(gold)
  const gain = (hits: readonly boolean[]): number =>
    hits.reduce((sum, hit, i) => sum + (hit ? 1 / Math.log2(i + 2) : 0), 0)
  const ideal = gain(Array.from({ length: Math.min(10, wanted.size) }, () => true))
  return gain(found.slice(0, 10).map((id) => wanted.has(id))) / ideal
}
