import { fewestUnits, type MemoryScope, rarityInMemory } from '@recall/core'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { Holding, Postings } from '../search-index/word-rows.ts'

/** What the index knows about one word of a query. */
export interface WordFacts {
  word: string
  /** Inverse document frequency, as FTS5 computes it, but never below zero; in a small memory as core computes it. */
  rarity: number
  /** How many units hold it. */
  count: number
  postings: Postings | null
  /** Whether a range of units holds it. */
  isIn(first: number, last: number): boolean
}

export function wordFactsOf(index: SearchIndex, scope: MemoryScope, words: readonly string[]): WordFacts[] {
  const total = index.totals(scope).units
  const rarityOf = total < fewestUnits ? rarityInMemory : rarityInTables
  const holdings = index.holding(scope, words)
  return words.map((word, i) => {
    const { count, postings } = holdings[i] as Holding
    const isIn = (first: number, last: number): boolean => {
      if (postings === null) return index.holds(scope, word, first, last)
      const next = postings.units[lowerBound(postings.units, first)]
      return next !== undefined && next <= last
    }
    return { word, rarity: rarityOf(count, total), count, postings, isIn }
  })
}

/** Inverse document frequency, as FTS5's `bm25()` computes it: never below zero. */
export const rarityInTables = (count: number, total: number): number =>
  Math.max(leastRarity, Math.log((total - count + 0.5) / (count + 0.5)))

const leastRarity = 1e-6

/** Whether a word is in half of the units or more, so that FTS5 gives no weight to it. */
export const isNearlyEverywhere = ({ rarity }: Pick<WordFacts, 'rarity'>): boolean => rarity <= leastRarity

/** FTS5 gives no weight to a word in half of the units; in a memory of three notes that word may be the subject. */
export const isSmallScope = (index: SearchIndex, scope: MemoryScope): boolean =>
  index.totals(scope).units < fewestUnits

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
