/** Invisible characters: format characters, invisible letters, line separators; but not emoji variation selectors. */
export const invisible = /(?![\ufe0e\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu

/** Includes the Braille blank, which is not white space. */
const blanks = /[\s\u2800]+/g

/** How many characters of a text can be seen, a run of blanks counted as one. */
export function visibleLength(text: string): number {
  const seen = text
    .replace(invisible, '')
    .replace(blanks, ' ')
    .replace(/\p{Cc}/gu, '')
  return [...seen.replace(blanks, ' ').trim()].length
}
