import { beginningOf } from '../text/beginning-of.ts'
import { termsIn } from './words.ts'

/**
 * The whole text or, if it is longer, the piece around the place where most of the terms are closest together, with `…`
 * where it was cut. The terms are often far from the beginning, and an answer can be on either side of the words of its
 * question.
 *
 * @param terms as `queryTerms` gives them
 * @param length most characters, without the `…`
 */
export function excerptOf(text: string, terms: ReadonlySet<string>, length: number): string {
  if (text.length <= length) return text
  const { start, end } = densest(text, terms, length)
  const around = Math.max(0, length - (end - start)) / 2
  const from = afterBlank(text, Math.min(Math.floor(start - around), text.length - length), start)
  const piece = beginningOf(text.slice(from), length)
  return `${from > 0 ? '…' : ''}${piece}${from + piece.length < text.length ? '…' : ''}`
}

/** The shortest place, of at most `length` characters, with the most different terms; the first of several. */
function densest(text: string, terms: ReadonlySet<string>, length: number): { start: number; end: number } {
  // A longer run of letters, for example in a script without spaces, does not fit.
  const found = [...termsIn(text, terms)].filter(({ start, end }) => end - start <= length)
  const inside = new Map<string, number>()
  let best = { start: 0, end: 0, terms: 0 }
  let first = 0
  for (const { term, end } of found) {
    inside.set(term, (inside.get(term) ?? 0) + 1)
    for (let left = found[first]; left; left = found[++first]) {
      const count = inside.get(left.term) ?? 0
      if (count === 1 && end - left.start <= length) break
      if (count > 1) inside.set(left.term, count - 1)
      else inside.delete(left.term)
    }
    const start = found[first]?.start ?? end
    const isShorter = inside.size === best.terms && end - start < best.end - best.start
    if (inside.size > best.terms || isShorter) best = { start, end, terms: inside.size }
  }
  return best
}

/**
 * The start of an excerpt at or after `from` that has to show a word: after a blank, or otherwise at the word itself.
 */
function afterBlank(text: string, from: number, word: number): number {
  if (from <= 0) return 0
  const blank = text.slice(from, word).search(/\s\S/)
  return blank === -1 ? word : from + blank + 1
}
