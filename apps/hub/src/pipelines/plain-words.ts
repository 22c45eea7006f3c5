import { foldLetters } from '@recall/core/ranking'
import { invisible } from '../visible-text.ts'

/** Tabs and line breaks are control characters as well, but seen. */
const unseen = /(?!\s)\p{Cc}/gu

/** No letter of these has a mark that `foldLetters` leaves: those are of other scripts. */
const strayMarks = /(?<=[a-z\d])\p{M}+/gu

/**
 * The words of a text, the same for any spacing, punctuation, capitals, diacritics and forms of letters, and whatever
 * stands in them that nobody sees. Marks stay in scripts that need them, as for a search.
 */
export function plainWords(text: string): string[] {
  const seen = text.replace(invisible, '').replace(unseen, '')
  const plain = foldLetters(seen).toLowerCase().replace(strayMarks, '')
  return plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}
