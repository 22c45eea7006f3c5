/** Most texts, and most tokens including padding, in one run of the model. */
const mostRows = 16
const mostTokens = 4096

/**
 * Groups texts of similar length, to compute little padding.
 *
 * @param lengths tokens of each text
 * @returns batches of indices into `lengths`, shortest texts first
 */
export function batchByLength(lengths: readonly number[]): number[][] {
  const order = lengths.map((_, i) => i).sort((a, b) => (lengths[a] as number) - (lengths[b] as number))
  const batches: number[][] = []
  let current: number[] = []
  for (const i of order) {
    const longest = lengths[i] as number
    if (current.length === mostRows || (current.length + 1) * longest > mostTokens) {
      if (current.length > 0) batches.push(current)
      current = []
    }
    current.push(i)
  }
  if (current.length > 0) batches.push(current)
  return batches
}
