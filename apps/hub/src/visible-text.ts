/** Invisible characters: of formats, fillers among the letters, separators of lines; not those that choose an emoji. */
export const invisible = /(?![\ufe0e\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu

/** With the blank of Braille, which is no white space. */
const blanks = /[\s\u2800]+/g

/** How many characters of a text can be seen, a run of blanks counted as one. */
export function visibleLength(text: string): number {
  const seen = text
    .replace(invisible, '')
    .replace(blanks, ' ')
    .replace(/\p{Cc}/gu, '')
  return [...seen.replace(blanks, ' ').trim()].length
}
