import { beginningOf } from '@recall/core/text'

/**
 * At most `length` characters of a text, cut at the end of a word if one is near, with `…` when something was
 * left out. Never cuts inside a character.
 */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  const room = Math.max(0, length - 1)
  const space = text.lastIndexOf(' ', room)
  const end = space > room * 0.8 ? space : room
  return `${beginningOf(text, end).trimEnd()}…`
}

/** At most `length` characters of a text, cut in the middle: two thirds of them from its beginning. */
export function clipMiddle(text: string, length: number): string {
  if (text.length <= length) return text
  const beginning = clip(text, Math.ceil((length * 2) / 3))
  const end = text.slice(text.length - Math.max(0, length - beginning.length - 1))
  const space = end.indexOf(' ')
  const words = space >= 0 && space < end.length * 0.2 ? end.slice(space + 1) : end
  // The rest of a character that was cut in two, or of its marks.
  return `${beginning} ${words.replace(/^[\uDC00-\uDFFF\p{M}\u200d]+/u, '')}`.trimEnd()
}

/** A text on one line, runs of white space as one space. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
