import { wordsOf } from '@recall/core/ranking'
import { isStopWord } from './stop-words.ts'

const word = /\p{L}[\p{L}\p{M}\p{N}_-]{1,39}/gu
/** Scripts that are written without spaces, where a run of letters is many words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u
/** Characters of one text that are counted: a pasted log says little about the subject. */
const longestText = 20_000

/** The text that replaced a secret. */
const placeholder = /\[redacted:[a-z0-9-]+\]/g

/** Adds up the weights of words to find those that a conversation is about. */
export interface KeywordCounter {
  add(text: string, weight: number): void
  /**
   * The words of the greatest weight, at most `limit`, each in the form that weighs most: 'test' and 'tests' are one
   * word. A total weight of 1 is not enough.
   */
  top(limit: number): string[]
}

export function createKeywordCounter(): KeywordCounter {
  const weights = new Map<string, number>()
  let segmenter: Intl.Segmenter | undefined

  const count = (candidate: string, weight: number): void => {
    const keyword = candidate.toLowerCase().replace(/[_-]+$/, '')
    if (keyword.length < (unspaced.test(keyword) ? 2 : 3) || isIdentifier(keyword)) return
    if (isStopWord(keyword)) return
    weights.set(keyword, (weights.get(keyword) ?? 0) + weight)
  }

  return {
    add(text, weight) {
      for (const [found] of text.slice(0, longestText).replace(placeholder, ' ').matchAll(word)) {
        if (!unspaced.test(found)) count(found, weight)
        else {
          segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' })
          for (const { segment, isWordLike } of segmenter.segment(found))
            if (isWordLike) count(segment, weight)
        }
      }
    },
    top(limit) {
      const subjects = new Map<string, Weighed>()
      for (const [keyword, weight] of [...weights].sort(heaviestFirst)) {
        const stem = wordsOf(keyword)
          .map(({ term }) => term)
          .join(' ')
        const known = subjects.get(stem)
        if (known) known[1] += weight
        else subjects.set(stem, [keyword, weight])
      }
      return [...subjects.values()]
        .filter(([, weight]) => weight > 1)
        .sort(heaviestFirst)
        .slice(0, limit)
        .map(([keyword]) => keyword)
    },
  }
}

type Weighed = [keyword: string, weight: number]

/** Ties are broken by length, then by code unit, so that the result never depends on the order of texts. */
const heaviestFirst = ([a, x]: Weighed, [b, y]: Weighed): number =>
  y - x || b.length - a.length || (a < b ? -1 : 1)

/** Whether a word is a hash or a generated id, which repeat often and mean nothing. */
function isIdentifier(keyword: string): boolean {
  return /^[0-9a-f-]{7,}$/.test(keyword) || (keyword.length > 16 && /\d/.test(keyword))
}

/** Whether a text holds a word about its subject: a greeting or `continue` does not. */
export function hasSubject(text: string): boolean {
  const keywords = createKeywordCounter()
  keywords.add(text, 2)
  return keywords.top(1).length > 0
}
