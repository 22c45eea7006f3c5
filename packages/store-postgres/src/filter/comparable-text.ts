/**
 * Encodes a text that is only compared: ordered, searched for a part, or tested for equality. A JSON string may hold
 * NUL and lone surrogates, and Postgres text may not. Each of those, and each character that the code itself uses,
 * becomes a code word: an opener followed by marks. Code words sort like the characters they stand for, none is a
 * prefix of another, and no opener occurs inside one, so every comparison gives the same answer as before. A change
 * of the code needs a migration of the columns that use it.
 */
export function comparableText(text: string): string {
  return special.test(text) ? text.replace(everySpecial, codeWord) : text
}

/** NUL and the three characters after it, three characters of the private use area, and lone surrogates. */
const specials =
  '[\\u0000-\\u0003\\ue000-\\ue002]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]'
const special = new RegExp(specials)
const everySpecial = new RegExp(specials, 'g')

function codeWord(character: string): string {
  const code = character.charCodeAt(0)
  if (code <= 3) return `\u0001${digits(code, 2, '\u0002', '\u0003')}`
  return code < 0xe000
    ? `\ue000\u0002${digits(code - 0xd800, 11, '\ue001', '\ue002')}`
    : `\ue000\ue001${digits(code - 0xe000, 2, '\ue001', '\ue002')}`
}

const digits = (number: number, length: number, zero: string, one: string): string =>
  Array.from({ length }, (_, i) => ((number >> (length - 1 - i)) & 1 ? one : zero)).join('')
