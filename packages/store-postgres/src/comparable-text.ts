/**
 * Postgres text holds neither NUL nor lone surrogates, and strings of JSON may hold both. What is only compared
 * (ordered, searched for a part, tested for equality) is kept in a spelling that has neither and gives the same
 * answers: each such character, and each that the spelling itself uses, becomes a code word of an opener and
 * marks. Code words stand in the order of what they mean, none begins another, and an opener never stands inside
 * one. Another spelling needs a migration of the fields that are kept in this one.
 */
export function comparableText(text: string): string {
  return special.test(text) ? text.replace(everySpecial, codeWord) : text
}

/** NUL, the three characters after it and three of the private use area, and surrogates without their partner. */
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

/** The text as Postgres can keep it, for what is shown and searched by words: those hold no such characters. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', ' ')
