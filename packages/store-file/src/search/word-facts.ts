import type { MemoryScope } from '@recall/core'
import { fewestUnits, rarityInMemory } from '@recall/core/ranking'
import type { SearchIndex } from '../search-index/search-index.ts'

/** What the index knows about one word of a query. */
export interface WordFacts {
  word: string
  /** Inverse document frequency, as FTS5 computes it, but never below zero; in a small memory as core computes it. */
  rarity: number
  /** How many units hold it. */
  count: number
  /** Whether there are too many units to list: then `isIn` asks the database, which is slow. */
  isCommon: boolean
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
      : Math.max(leastRarity, Math.log((total - count + 0.5) / (count + 0.5)))
    return { word, rarity, count, isCommon: units === null, isIn }
  })
}

const leastRarity = 1e-6

/**
 * Whether half of the units or more hold a word: counting it in the matches of other words is slow, and changes
 * nothing.
 */
export const isNearlyEverywhere = ({ rarity }: Pick<WordFacts, 'rarity'>): boolean => rarity <= leastRarity

/** FTS5 gives no weight to a word in half of the units; in a memory of three notes that word may be the subject. */
export const isSmallScope = (index: SearchIndex, scope: MemoryScope): boolean =>
  index.countUnits(scope) < fewestUnits

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
