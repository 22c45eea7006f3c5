/**
 * The first `length` UTF-16 units of a text; fewer where that would split what a reader sees as one character: a letter
 * with its marks, a syllable, an emoji of several.
 */
export function beginningOf(text: string, length: number): string {
  // An ASCII character never belongs to the one before it.
  if (length >= text.length || text.charCodeAt(length) < 0x80) return text.slice(0, length)
  characters ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  // No character that people write is longer, and searching a whole text is slow.
  const start = Math.max(0, length - longestCharacter)
  const near = text.slice(start, length + 2)
  const end = start + (characters.segment(near).containing(length - start)?.index ?? 0)
  return text.slice(0, end > start ? end : length).replace(/[\uD800-\uDBFF]$/, '')
}

let characters: Intl.Segmenter | undefined
const longestCharacter = 64
