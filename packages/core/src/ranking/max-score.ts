import { saturation } from './bm25.ts'

/**
 * Splits the words of a query into those that find the best units, and those that are so common that a unit with no
 * other word cannot be among the best: MaxScore (Turtle & Flood 1995). The split is a guess until the best units are
 * known: it was right if the lowest of their scores is above `bound`. All words are searched for when the rare ones are
 * in so many units that searching for these, and then for all words in those units, takes longer than searching for all
 * words at once.
 *
 * @param words `rarity` is the inverse document frequency, `count` how many units hold the word
 * @param pool how many units are wanted
 * @param total how many units there are
 */
export function splitByRarity(
  words: readonly { word: string; rarity: number; count: number }[],
  pool: number,
  total: number,
): { finding: string[]; counting: string[]; bound: number } {
  const rarestFirst = words.toSorted((a, b) => a.count - b.count)
  let leastExpected = 0
  let filled = 0
  for (const { count, rarity } of rarestFirst) {
    // A unit of the usual length that holds a word once scores about the word's rarity.
    leastExpected = rarity * 0.8
    filled += count
    if (filled >= pool) break
  }
  let bound = 0
  let kept = rarestFirst.length
  for (; kept > 1; kept--) {
    const more = bound + saturation * (rarestFirst[kept - 1]?.rarity ?? 0)
    if (more > leastExpected) break
    bound = more
  }
  const found = rarestFirst.slice(0, kept).reduce((sum, { count }) => sum + count, 0)
  if (found > total / 2) kept = rarestFirst.length
  const [finding, counting] = [rarestFirst.slice(0, kept), rarestFirst.slice(kept)]
  return { finding: finding.map(({ word }) => word), counting: counting.map(({ word }) => word), bound }
}
