import { indexedTerms, queryTerms } from '@recall/core/ranking'

/**
 * Longest term that is kept whole, in UTF-16 units; Postgres takes 2 KB. Longer ones are cut off, and match by their
 * beginning.
 */
const longestTerm = 500
/** The weights that encode the counts from 1 to 15; 15 also stands for more. */
const spelledCounts = Array.from({ length: 15 }, (_, i) =>
  [...'ABCD']
    .filter((_, bit) => (i + 1) & (8 >> bit))
    .map((weight, position) => `${position + 1}${weight}`)
    .join(),
)

/**
 * Counts the terms of a text, as a tsvector literal. Core splits and stems, so that all stores agree on what a word
 * is. The weights of a term's positions are the bits of its count, A being the highest, so that a tsquery can read
 * it: unpacking a tsvector costs a hundred times as much. Beyond 15 occurrences BM25 hardly grows.
 *
 * @returns the literal, and the number of words in the text
 */
export function countedWords(text: string): { words: string; wordCount: number } {
  const counts = new Map<string, number>()
  let wordCount = 0
  for (const { term } of indexedTerms(text)) {
    wordCount++
    if (term !== '') counts.set(cut(term), (counts.get(cut(term)) ?? 0) + 1)
  }
  const lexemes = [...counts].map(
    ([term, count]) => `${quoted(term)}:${spelledCounts[Math.min(count, spelledCounts.length) - 1]}`,
  )
  return { words: lexemes.join(' '), wordCount }
}

/** The distinct terms that a query looks for. */
export const searchTerms = (text: string): string[] => [
  ...new Set(
    queryTerms(text)
      .filter((term) => term !== '')
      .map(cut),
  ),
]

/** Quotes a term for a tsquery: a text search configuration may produce any character. */
export const quoted = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const cut = (term: string): string => term.slice(0, longestTerm).toWellFormed()
