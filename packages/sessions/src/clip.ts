/**
 * At most `length` characters of a text, cut at the end of a word if one is near, with `…` when something was
 * left out. Never cuts inside a surrogate pair.
 */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  const room = Math.max(0, length - 1)
  const space = text.lastIndexOf(' ', room)
  const end = space > room * 0.8 ? space : room
  const isInsidePair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
  return `${text.slice(0, isInsidePair ? end - 1 : end).trimEnd()}…`
}

/** A text on one line, runs of white space as one space. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
