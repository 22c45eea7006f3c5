import { beginningOf } from '@recall/core'

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

/** A text on one line, runs of white space as one space. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
