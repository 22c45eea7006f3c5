import type { MatchedPassage } from '../memory-manager.ts'
import { countTermsIn } from './words.ts'

/** Texts up to this length are one passage. */
const passageLength = 1200

/** The paragraph of a text that holds most of the query's terms, with its neighbours. */
export function bestPassage(text: string, terms: readonly string[]): MatchedPassage {
  const paragraphs =
    text.length <= passageLength ? [text] : text.split(/\n{2,}/).filter((part) => part.trim())
  const best = paragraphs.length > 1 ? richest(paragraphs, new Set(terms)) : 0
  const neighbours = [paragraphs[best - 1], paragraphs[best + 1]].filter((part) => part !== undefined)
  return { text: paragraphs[best] ?? '', ...(neighbours.length > 0 ? { neighbours } : {}) }
}

/** Index of the first of the texts that hold the most of the terms. */
function richest(texts: readonly string[], terms: ReadonlySet<string>): number {
  const counts = texts.map((text) => countTermsIn(text, terms))
  return counts.indexOf(counts.reduce((most, count) => Math.max(most, count)))
}
