import { beginningOf } from '../text/beginning-of.ts'
import { termsIn } from './words.ts'

/** Share of an excerpt that leads up to the first of the words that it is made for. */
const leadShare = 0.25

/**
 * A text whole or, of a longer one, the piece that holds the most of some terms, with `…` where it was cut. What was
 * looked for often stands far from the beginning.
 *
 * @param terms as `queryTerms` gives them
 * @param length most characters, without those two
 */
export function excerptOf(text: string, terms: ReadonlySet<string>, length: number): string {
  if (text.length <= length) return text
  const { start, end } = densest(text, terms, length * (1 - leadShare))
  const from = end <= length ? 0 : leadOf(text, start, length * leadShare)
  const piece = beginningOf(text.slice(from), length)
  return `${from > 0 ? '…' : ''}${piece}${from + piece.length < text.length ? '…' : ''}`
}

/** The first place of at most `length` characters with the most different terms. */
function densest(text: string, terms: ReadonlySet<string>, length: number): { start: number; end: number } {
  const found = [...termsIn(text, terms)]
  const inside = new Map<string, number>()
  let best = { start: 0, end: 0, terms: 0 }
  let first = 0
  for (const { term, end } of found) {
    inside.set(term, (inside.get(term) ?? 0) + 1)
    for (let left = found[first]; left && end - left.start > length; left = found[++first]) {
      const count = (inside.get(left.term) ?? 0) - 1
      if (count > 0) inside.set(left.term, count)
      else inside.delete(left.term)
    }
    if (inside.size > best.terms) best = { start: found[first]?.start ?? 0, end, terms: inside.size }
  }
  return best
}

/** Where an excerpt begins, at most `length` characters before a word: behind a blank, or else at the word itself. */
function leadOf(text: string, start: number, length: number): number {
  const lead = text.slice(Math.max(0, start - length), start)
  const blank = lead.search(/\s\S/)
  return blank === -1 ? start : start - lead.length + blank + 1
}
