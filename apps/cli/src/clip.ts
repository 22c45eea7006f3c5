/** The first `length` UTF-16 units of a text; one fewer where that would cut a character in half. */
export const beginningOf = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')

/** A text whole, or the beginning of a longer one and `…`. */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${beginningOf(text, length)}…`
