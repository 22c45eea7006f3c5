import { isUnspaced } from './unspaced-words.ts'

/** The most words of a text to look for. More than the words of almost any question. */
const mostWords = 16

/** A pair of characters counts half, because each character of a script without spaces is in two of them. */
const sizeOf = (word: string): number => (isUnspaced(word) ? 0.5 : 1)

/** Whether a text has more words than are looked for. */
export const hasManyWords = (words: readonly string[]): boolean =>
  words.reduce((sum, word) => sum + sizeOf(word), 0) > mostWords

/**
 * The words of a query to look for, in its order: all words of a question, or the rarest words of a longer text that
 * the memory holds. The other words of a prompt or a page would outweigh what it is about (Kumaran & Carvalho, Reducing
 * Long Queries, SIGIR 2009), and take most of the time of a search.
 *
 * @param words `count` is how many units hold the word
 */
export function tellingWords<Word extends { word: string; count: number }>(words: readonly Word[]): Word[] {
  const rarestFirst = words.toSorted(
    (a, b) => Number(a.count === 0) - Number(b.count === 0) || a.count - b.count,
  )
  const telling = new Set<Word>()
  let room = mostWords
  for (const each of rarestFirst) {
    room -= sizeOf(each.word)
    if (room < 0) break
    telling.add(each)
  }
  return words.filter((word) => telling.has(word))
}
