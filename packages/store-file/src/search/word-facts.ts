import { fewestUnits, type MemoryScope, rarityInMemory } from '@recall/core'
import type { SearchIndex } from '../search-index/search-index.ts'

/** What the index knows about one word of a query. */
export interface WordFacts {
  word: string
  /** Inverse document frequency, as FTS5 computes it, but never below zero; in a small memory as core computes it. */
  rarity: number
  /** How many units hold it. */
  count: number
  /** Whether a range of units holds it. */
  isIn(first: number, last: number): boolean
}

export function wordFactsOf(index: SearchIndex, scope: MemoryScope, words: readonly string[]): WordFacts[] {
  const total = index.countUnits(scope)
  const isSmall = total < fewestUnits
  return words.map((word) => {
    const { count, units } = index.holding(scope, word)
    const isIn = (first: number, last: number): boolean => {
      if (units === null) return index.holds(scope, word, first, last)
      const next = units[lowerBound(units, first)]
      return next !== undefined && next <= last
    }
    const rarity = isSmall
      ? rarityInMemory(count, total)
      : Math.max(1e-6, Math.log((total - count + 0.5) / (count + 0.5)))
    return { word, rarity, count, isIn }
  })
}

/** FTS5 gives no weight to a word in half of the units; in a memory of three notes that word may be the subject. */
export const isSmallScope = (index: SearchIndex, scope: MemoryScope): boolean =>
  index.countUnits(scope) < fewestUnits

/** The most that BM25 gives for a word, in multiples of its rarity: k1 + 1. */
export const saturation = 2.2

/**
 * Words that are so common that a unit which holds nothing else cannot be among the best: MaxScore (Turtle &
 * Flood 1995). It is a guess until the best are known: they are what was looked for if the least of them
 * scores more than `bound`. None is left out where the others are in so many units that to look for these, and then
 * for all words in them, takes longer than to look for all words at once.
 *
 * @param pool how many units are looked for
 * @param total how many units there are
 */
export function splitByRarity(
  facts: readonly WordFacts[],
  pool: number,
  total: number,
): { finding: string[]; counting: string[]; bound: number } {
  const rarestFirst = [...facts].sort((a, b) => a.count - b.count)
  let leastExpected = 0
  let filled = 0
  for (const { count, rarity } of rarestFirst) {
    // A unit that holds a word once among the usual number of words scores about its rarity.
    leastExpected = rarity * 0.8
    filled += count
    if (filled >= pool) break
  }
  let bound = 0
  let kept = rarestFirst.length
  for (; kept > 1; kept--) {
    const more = bound + saturation * (rarestFirst[kept - 1] as WordFacts).rarity
    if (more > leastExpected) break
    bound = more
  }
  const found = rarestFirst.slice(0, kept).reduce((sum, { count }) => sum + count, 0)
  if (found > total / 2) kept = rarestFirst.length
  const wordsOf = (some: WordFacts[]): string[] => some.map(({ word }) => word)
  return { finding: wordsOf(rarestFirst.slice(0, kept)), counting: wordsOf(rarestFirst.slice(kept)), bound }
}

/** Index of the first number >= `least` in an ascending list (lower bound). */
function lowerBound(numbers: Int32Array, least: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) < least) low = middle + 1
    else high = middle
  }
  return low
}
