import { compareCodePoints } from '@recall/core/text'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { comparableText } from './comparable-text.ts'

/** Mostly the characters that are spelled differently, so that they meet. */
const text = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom('\u0000', '\u0001', '\u0002', '\u0003', '\ue000', '\ue001', '\ue002'),
      },
      {
        weight: 3,
        arbitrary: fc.constantFrom('\ud800', '\udfff', '\udbff', '\udc00', '\ud83d\ude00', '\ud7ff'),
      },
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.constantFrom('a', 'b', '\u0004', '\uffff'),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))

it('holds nothing that Postgres refuses', () => {
  fc.assert(
    fc.property(text, (any) => {
      const spelled = comparableText(any)
      expect(spelled.isWellFormed() && !spelled.includes('\u0000')).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

it('keeps equality, order and parts', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [left, right] = [comparableText(a), comparableText(b)]
      expect(left === right).toBe(a === b)
      expect(Math.sign(compareCodePoints(left, right))).toBe(Math.sign(compareCodePoints(a, b)))
    }),
    { numRuns: 5000 },
  )
  fc.assert(
    fc.property(text, text, text, (a, part, b) => {
      // Half a pair is no part of the pair that it is joined to: both sides look at whole characters.
      const whole = [...a, ...part, ...b].join('') === a + part + b
      fc.pre(whole && [...(a + part + b)].length === [...a].length + [...part].length + [...b].length)
      expect(comparableText(a + part + b).includes(comparableText(part))).toBe(true)
    }),
    { numRuns: 5000 },
  )
})

it('leaves other text as it is', () => {
  expect(comparableText('blue door 🚪 %_\\ é')).toBe('blue door 🚪 %_\\ é')
})
