import { indexedTerms, queryTerms } from '@recall/core'

/** Longest term kept whole, in UTF-16 units; Postgres takes 2 KB. Longer ones match by their beginning. */
const longestTerm = 500
/** How the counts from 1 to 15 are written; 15 stands for more. */
const spelledCounts = Array.from({ length: 15 }, (_, i) =>
  [...'ABCD']
    .filter((_, bit) => (i + 1) & (8 >> bit))
    .map((weight, position) => `${position + 1}${weight}`)
    .join(),
)

/**
 * A text's terms with how often each occurs, spelled as a tsvector. Core splits and stems, so that every store
 * agrees on what a word is. The weights of a term's positions are the bits of its count, A the highest, so that
 * a tsquery can read it: taking a tsvector apart costs a hundred times as much. Beyond 15 occurrences BM25 hardly
 * grows.
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

/** The terms that a query looks for. */
export const lookedFor = (text: string): string[] => [
  ...new Set(
    queryTerms(text)
      .filter((term) => term !== '')
      .map(cut),
  ),
]

/** A term as a tsquery spells it; what a configuration of Postgres makes of words may hold anything. */
export const quoted = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const cut = (term: string): string => term.slice(0, longestTerm).toWellFormed()
