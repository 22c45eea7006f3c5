import { expect, it } from 'vitest'
import { sharedWords } from './shared-words.ts'

const text = 'Raise the pool to 20, then restart each of the workers that still hold a connection.'
const within = (inserted: string): string => text.replace(/\w(?=\w)/g, `$&${inserted}`)

it.each([
  ['a space that has no width', '\u200b'],
  ['a joiner of graphemes', '\u034f'],
  ['an acute accent', '\u0301'],
  ['a variation selector', '\ufe0f'],
  ['a control character', '\u0001'],
  ['a voicing mark of kana', '\u3099'],
  ['a vowel of Devanagari', '\u0941'],
])('are all words when they are written with %s within each', (_, inserted) => {
  expect(sharedWords(text, within(inserted))).toBe(1)
})

it('are told apart by the marks of scripts that need them', () => {
  expect(sharedWords('की', 'का')).toBe(0)
  expect(sharedWords('ガラス', 'カラス')).toBe(0)
})

it('are not joined over lines', () => {
  expect(sharedWords(text, text.replaceAll(' ', '\r\n'))).toBe(1)
  expect(sharedWords(text, text.replaceAll(' ', ''))).toBe(0)
})
