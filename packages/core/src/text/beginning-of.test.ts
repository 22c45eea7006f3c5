import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginningOf } from './beginning-of.ts'

it.each([
  ['a family', 'ab👩\u200d👩\u200d👧tail', 'ab'],
  ['a flag', 'ab🇩🇪 tail', 'ab'],
  ['a tone of skin', 'ab👍🏽 tail', 'ab'],
  ['a tone of skin behind the whole of its hand', 'a👍🏽 tail', 'a'],
  ['a decomposed letter', 'abe\u0301\u0302 tail', 'ab'],
  ['a syllable of Hangul', 'ab\u1112\u1161\u11ab tail', 'ab'],
  ['a vowel of Devanagari', 'abकी tail', 'ab'],
  ['a tone of Thai', 'abที่ tail', 'ab'],
])('leaves out %s whole', (_, text, beginning) => {
  expect(beginningOf(text, 3)).toBe(beginning)
})

it('is the text up to there where no character is cut', () => {
  expect(beginningOf('数据库连接', 3)).toBe('数据库')
  expect(beginningOf('größe', 4)).toBe('größ')
  expect(beginningOf('abc', 9)).toBe('abc')
  expect(beginningOf('é', 0)).toBe('')
})

it('gets shorter by little, and ends with a whole code point, also when marks never end', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\u0301', '\u200d', '👩', '🇩', 'क', '्', '\ud83d') })
  fc.assert(
    fc.property(text, fc.nat(40), (all, length) => {
      const beginning = beginningOf(all, length)
      expect(all.startsWith(beginning)).toBe(true)
      expect(beginning.length).toBeLessThanOrEqual(length)
      if (all.isWellFormed()) expect(beginning.isWellFormed()).toBe(true)
    }),
  )
  expect(beginningOf(`a${'\u0301'.repeat(1000)}`, 500)).toHaveLength(500)
  expect(beginningOf(`👩${'\u200d👩'.repeat(100)}`, 199)).toHaveLength(198)
})
