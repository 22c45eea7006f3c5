import { stemmer } from 'stemmer'
import { isAscii } from '../text/ascii.ts'
import { lazily } from '../text/lazily.ts'
import { foldLetters } from './fold-letters.ts'
import { identifierWords, innerWords } from './identifier-words.ts'
import { isUnspaced, unspacedWords } from './unspaced-words.ts'

/** One word of a text: its searchable form and its position. */
export interface Word {
  /** Lower case, folded (see `foldLetters`), stemmed (Porter 1980). */
  term: string
  start: number
  end: number
}

/** English words that say nothing about a subject; left out of a query unless it holds no others. */
const stopWords = new Set(
  `a about after again all also am an and any are as at be been before being but by can could did do does for from had
  has have he her him his how i if in into is it its me my no not of on or our she should so some still than that the
  their them then there these they this to us was we were what when where which who whom why will with would yet you
  your`.split(/\s+/),
)

/** Endings after an apostrophe, and words with one, that say nothing either: `what's`, `doesn't`. */
const contractions =
  /\b(?:ai|are|ca|could|did|does|do|had|has|have|is|might|must|need|should|was|were|wo|would)n['’]t\b|(?<=[a-z\d])['’](?:d|ll|m|re|s|ve)\b/gi

/** Runs of letters, numbers and marks. Without a bound, a run of millions would overflow the stack of the engine. */
const runs = lazily(() => /[\p{L}\p{N}\p{M}\p{Co}]{1,65536}/gu)
const asciiRuns = /[a-z\d]+/gi
const runsFor = (text: string): RegExp => (isAscii(text) ? asciiRuns : runs())

const betweenRuns = lazily(() => /[^ -~\p{L}\p{N}\p{M}\p{Co}]+/gu)
/**
 * NUL, and everything that versions of Unicode may treat differently: all but Latin letters and general punctuation.
 */
const unsettled = /[\0\u0370-\u200f\u2060-\uffff]/

/**
 * A text in which SQLite's tokenizer finds the words that `wordsOf` does: its Unicode is older, so it takes newer emoji
 * for letters and knows the case of fewer letters. It ends a text at the first NUL.
 */
export const forTokenizer = (text: string): string =>
  unsettled.test(text) ? text.toLowerCase().replace(betweenRuns(), ' ') : text

/**
 * Splits a text the way SQLite's `porter unicode61` tokenizer does after `foldLetters` and `forTokenizer`: runs of
 * letters, numbers and marks, stemmed, so that every store agrees on what a word is.
 */
export function wordsOf(text: string): Word[] {
  const words: Word[] = []
  for (const match of text.matchAll(runsFor(text))) {
    words.push({ term: termOf(match[0]), start: match.index, end: match.index + match[0].length })
  }
  return words
}

/** The terms that a text is found by: its words, and the words inside them (see `innerWords`). */
export const indexedTerms = (text: string): { term: string }[] =>
  rawWords(text).map((word) => ({ term: termOf(word) }))

/** Where a text holds some of these terms, in order, each with the bounds of the run of letters that it is in. */
export function* termsIn(text: string, terms: ReadonlySet<string>): Generator<Word> {
  // Splitting and stemming cost much more than ruling out.
  const beginnings = new RegExp([...terms].map(firstLettersOf).join('|'))
  const mayHold = (part: string): boolean => beginnings.test(foldLetters(part).toLowerCase())
  if (terms.size === 0 || !mayHold(text)) return
  for (const { 0: run, index } of text.matchAll(runsFor(text))) {
    if (!mayHold(run)) continue
    for (const { term } of indexedTerms(run))
      if (terms.has(term)) yield { term, start: index, end: index + run.length }
  }
}

/**
 * Pattern of the letters that all words with this stem have. Stems may end differently from their words, as `kei` does
 * for `key`, but only one of two letters does so within the first two: `ei` is the stem of `eyed`.
 */
const firstLettersOf = (term: string): string =>
  term.length === 2 && term.endsWith('i') ? `${term[0]}[iy]` : term.slice(0, 2)

/** How many of the terms a text holds. */
export function countTermsIn(text: string, terms: ReadonlySet<string>): number {
  const found = new Set<string>()
  for (const { term } of termsIn(foldLetters(text), terms)) {
    found.add(term)
    if (found.size === terms.size) break
  }
  return found.size
}

/** The distinct terms of a query, stop words left out. */
export function queryTerms(text: string): string[] {
  return [...new Set(wordsToFind(text).map(termOf))]
}

/** The distinct words of a query as written, stop words left out, for engines that stem by themselves. */
export function queryWords(text: string): string[] {
  return [...new Set(wordsToFind(text).map((word) => word.toLowerCase()))]
}

/** The words of a query without stop words, or all of them where it holds no others. */
function wordsToFind(text: string): string[] {
  const telling = askedWords(text.replace(contractions, ' ')).filter(
    (word) => !stopWords.has(word.toLowerCase()),
  )
  return telling.length > 0 ? telling : askedWords(text)
}

const rawWords = (text: string): string[] => runsIn(text).flatMap((run) => [run, ...innerWords(run)])

/** The words to look for. A run in a script without spaces may be a whole question, so only its parts are used. */
const askedWords = (text: string): string[] =>
  runsIn(text).flatMap((run) => (isUnspaced(run) ? unspacedWords(run, true) : [run, ...identifierWords(run)]))

function runsIn(text: string): string[] {
  const folded = foldLetters(text)
  return folded.match(runsFor(folded)) ?? []
}

function termOf(found: string): string {
  const known = terms.get(found)
  if (known !== undefined) return known
  const word = detached(found)
  const term = stemmer(foldLetters(word).toLowerCase())
  if (terms.size >= mostTerms) terms.clear()
  terms.set(word, term)
  return term
}

/** Copies a word. V8 makes long substrings views of their text, so a cached one would keep the whole text in memory. */
const detached = (word: string): string => ` ${word}`.slice(1)

/** Cache of stems. Few words make up most of a text, so stemming each once makes splitting several times faster. */
const terms = new Map<string, string>()
const mostTerms = 20_000
