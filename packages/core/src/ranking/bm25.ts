import { tellingWords } from './telling-words.ts'

/**
 * BM25 (Robertson & Zaragoza 2009) with k1 = 1.2, b = 0.75 and the never-negative inverse document frequency
 * `ln(1 + (N - df + 0.5) / (df + 0.5))`.
 *
 * @param documents term counts of every document in the collection; those without words are ignored
 * @param rarities inverse document frequency of each query term, when it comes from another collection
 * @returns one score per document, 0 where no query term occurs
 */
export function bm25(
  queryTerms: readonly string[],
  documents: readonly DocumentTerms[],
  rarities: readonly number[] = queryTerms.map((term) => termRarity(term, documents)),
): number[] {
  const total = documents.reduce((sum, document) => sum + document.length, 0)
  const averageLength = total / Math.max(1, withWords(documents))
  const scores = documents.map(() => 0)
  for (const [i, term] of queryTerms.entries()) {
    const weight = rarities[i] as number
    documents.forEach((document, at) => {
      const count = document.counts.get(term)
      if (count === undefined) return
      const norm = k1 * (1 - b + (b * document.length) / averageLength)
      scores[at] = (scores[at] ?? 0) + (weight * count * saturation) / (count + norm)
    })
  }
  return scores
}

/** The inverse document frequency of a term in a collection. */
const termRarity = (term: string, documents: readonly DocumentTerms[]): number =>
  rarity(holding(term, documents), withWords(documents))

/**
 * A few units cannot show whether a word is rare. A smaller memory therefore counts as one of this many units, the
 * missing ones being empty; otherwise the words of a memory's only note would count far less than words it lacks.
 */
export const fewestUnits = 50

/** Inverse document frequency of a term that `holders` of a memory's `units` contain; see `fewestUnits`. */
export const rarityInMemory = (holders: number, units: number): number =>
  rarity(holders, Math.max(units, fewestUnits))

/** The terms of a query to look for among a memory's units (see `tellingWords`), with their rarities. */
export function lookedFor(
  queryTerms: readonly string[],
  units: readonly DocumentTerms[],
): { terms: string[]; rarities: number[] } {
  const telling = tellingWords(queryTerms.map((word) => ({ word, count: holding(word, units) })))
  const worded = withWords(units)
  return {
    terms: telling.map(({ word }) => word),
    rarities: telling.map(({ count }) => rarityInMemory(count, worded)),
  }
}

const holding = (term: string, documents: readonly DocumentTerms[]): number =>
  documents.filter((document) => document.counts.has(term)).length

const withWords = (documents: readonly DocumentTerms[]): number =>
  documents.filter(({ length }) => length > 0).length

const rarity = (holders: number, documents: number): number =>
  Math.log(1 + (documents - holders + 0.5) / (holders + 0.5))

export interface DocumentTerms {
  counts: ReadonlyMap<string, number>
  /** Words in the document. */
  length: number
}

export function countTerms(terms: Iterable<{ term: string }>): DocumentTerms {
  const counts = new Map<string, number>()
  let length = 0
  for (const { term } of terms) {
    counts.set(term, (counts.get(term) ?? 0) + 1)
    length++
  }
  return { counts, length }
}

const k1 = 1.2
const b = 0.75

/** The most that `bm25` gives for a term, in multiples of its rarity. */
export const saturation = k1 + 1
