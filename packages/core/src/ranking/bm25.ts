/**
 * BM25 (Robertson & Zaragoza 2009) with k1 = 1.2, b = 0.75 and the never-negative inverse document frequency
 * `ln(1 + (N - df + 0.5) / (df + 0.5))`.
 *
 * @param documents term counts of every document in the collection
 * @returns one score per document, 0 where no query term occurs
 */
export function bm25(queryTerms: readonly string[], documents: readonly DocumentTerms[]): number[] {
  const total = documents.reduce((sum, document) => sum + document.length, 0)
  const averageLength = total / Math.max(1, documents.length)
  const scores = documents.map(() => 0)
  for (const term of queryTerms) {
    const rarity = termRarity(term, documents)
    documents.forEach((document, i) => {
      const count = document.counts.get(term)
      if (count === undefined) return
      const norm = k1 * (1 - b + (b * document.length) / Math.max(1, averageLength))
      scores[i] = (scores[i] ?? 0) + (rarity * count * (k1 + 1)) / (count + norm)
    })
  }
  return scores
}

/** The inverse document frequency of a term; that of one document for a term that none holds. */
export function termRarity(term: string, documents: readonly DocumentTerms[]): number {
  const containing = documents.filter((document) => document.counts.has(term)).length
  return Math.log(1 + (documents.length - containing + 0.5) / (containing + 0.5))
}

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
