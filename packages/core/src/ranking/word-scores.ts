import { bm25, countTerms, lookedFor } from './bm25.ts'
import { indexedTerms, queryTerms } from './words.ts'

/**
 * How well each text fits a question by the words they share, as searches rank (see `bm25`): 0 where a text shares
 * none. Reads every text, so it is for collections that are small enough to need no index.
 */
export function wordScores(question: string, texts: readonly string[]): number[] {
  const documents = texts.map((text) => countTerms(indexedTerms(text)))
  const { terms, rarities } = lookedFor(queryTerms(question), documents)
  return bm25(terms, documents, rarities)
}
