/**
 * Most texts, and most tokens including padding, in one run of the model. More would hardly be faster, take more
 * memory, and make everything that waits for the end of the run, such as a signal, wait for seconds.
 */
const mostRows = 16
const mostTokens = 1024

/** The cost of starting a run, in tokens: about the same with both runtimes. */
const runCost = 16

/**
 * Groups texts of similar length, so that the model computes as little as possible: a text is padded to the longest of
 * its batch, unless a separate run costs less than the padding.
 *
 * @param lengths tokens of each text
 * @returns batches of indices into `lengths`, shortest texts first
 */
export function batchByLength(lengths: readonly number[]): number[][] {
  const order = lengths.map((_, i) => i).sort((a, b) => (lengths[a] as number) - (lengths[b] as number))
  /** The least cost of the first `n` texts, and how many of them the last batch then holds. */
  const best = [{ cost: 0, rows: 0 }]
  for (let end = 1; end <= order.length; end++) {
    const longest = lengths[order[end - 1] as number] as number
    const fitting = Math.max(1, Math.min(end, mostRows, Math.floor(mostTokens / longest)))
    let least = { cost: Number.POSITIVE_INFINITY, rows: 0 }
    for (let rows = 1; rows <= fitting; rows++) {
      const cost = (best[end - rows]?.cost ?? 0) + rows * longest + runCost
      if (cost < least.cost) least = { cost, rows }
    }
    best.push(least)
  }
  const batches: number[][] = []
  for (let end = order.length; end > 0; end -= best[end]?.rows as number)
    batches.unshift(order.slice(end - (best[end]?.rows as number), end))
  return batches
}
