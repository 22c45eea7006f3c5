import { MemoryError, MemoryErrorCode, queryTerms, wordsOf } from '@recall/core'

/** Longest term kept whole, in UTF-16 units; Postgres takes 2 KB. Longer ones match by their beginning. */
const longestTerm = 500
/** Positions are 14 bits wide: more occurrences of a term in one text are all the same. */
const mostOccurrences = 16_383
/** Bytes of terms and counts that a tsvector holds, with a little room for its padding. */
const mostTermBytes = 1_000_000

/**
 * A text's terms with how often each occurs, spelled as a tsvector. Core splits and stems, so that every store
 * agrees on what a word is; the place of a term's position is taken by its count.
 *
 * @throws MemoryError INVALID_INPUT for a text with more distinct words than Postgres can index
 */
export function countedWords(text: string): { words: string; wordCount: number } {
  const counts = new Map<string, number>()
  let wordCount = 0
  for (const { term } of wordsOf(text)) {
    wordCount++
    if (term !== '') counts.set(cut(term), (counts.get(cut(term)) ?? 0) + 1)
  }
  let bytes = 0
  const lexemes = [...counts].map(([term, count]) => {
    bytes += Buffer.byteLength(term) + 5
    return `${quoted(term)}:${Math.min(count, mostOccurrences)}`
  })
  if (bytes > mostTermBytes) {
    throw new MemoryError(
      `the text has ${counts.size} distinct words, more than Postgres can index: pass a shorter text option, or index: false`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
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

/** Entries that hold any of the terms, as a tsquery. */
export const anyOf = (terms: readonly string[]): string => terms.map(quoted).join(' | ')

const cut = (term: string): string => term.slice(0, longestTerm).toWellFormed()

/** Terms are letters, digits and marks: there is nothing in them to escape. */
const quoted = (term: string): string => `'${term}'`
