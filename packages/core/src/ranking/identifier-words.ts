/**
 * The words inside an identifier that is written without separators: `searchMemories` holds `search` and
 * `Memories`, `HTTPServer` holds `HTTP` and `Server`. None for any other word; `snake_case` and paths are several
 * words as they stand.
 */
export function identifierWords(word: string): string[] {
  if (!hump.test(word)) return []
  return (word.match(part) ?? []).filter((each) => each.length > 1)
}

/** A capital behind a small letter, or a capitalised word behind capitals. */
const hump = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
const part = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu

/** The words inside every identifier of a text, for engines that split texts by themselves; '' when there are none. */
export function wordsInIdentifiers(text: string): string {
  if (!hump.test(text)) return ''
  return [...text.matchAll(/[\p{L}\p{N}\p{M}\p{Co}]+/gu)].flatMap(([word]) => identifierWords(word)).join(' ')
}
