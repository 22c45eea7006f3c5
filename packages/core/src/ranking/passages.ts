import type { MatchedPassage } from '../memory-manager.ts'
import { indexedTerms } from './words.ts'

/** Texts up to this length are one passage. */
const passageLength = 1200

/** The paragraph of a text that holds most of the query's terms, with its neighbours. */
export function bestPassage(text: string, terms: readonly string[]): MatchedPassage {
  const paragraphs =
    text.length <= passageLength ? [text] : text.split(/\n{2,}/).filter((part) => part.trim())
  const wanted = new Set(terms)
  let best = 0
  let bestCount = -1
  paragraphs.forEach((paragraph, i) => {
    const found = new Set(indexedTerms(paragraph).map(({ term }) => term))
    const count = [...wanted].filter((term) => found.has(term)).length
    if (count > bestCount) {
      best = i
      bestCount = count
    }
  })
  const neighbours = [paragraphs[best - 1], paragraphs[best + 1]].filter((part) => part !== undefined)
  return { text: paragraphs[best] ?? '', ...(neighbours.length > 0 ? { neighbours } : {}) }
}
