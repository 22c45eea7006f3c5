import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareCodePoints } from './code-points.ts'

describe('compareCodePoints', () => {
  /** Characters around the surrogates and beyond them. */
  const edges = ['a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10001}', '\u{10ffff}']
  const wholeCharacter = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })
  const codePointsOf = (text: string): number[] => Array.from(text, (each) => each.codePointAt(0) as number)
  const compareLists = (a: readonly number[], b: readonly number[]): number => {
    const at = a.findIndex((code, i) => code !== b[i])
    return Math.sign(at < 0 || at >= b.length ? a.length - b.length : (a[at] as number) - (b[at] as number))
  }

  it('orders as the bytes of UTF-8 do', () => {
    const wellFormed = fc.string({ unit: fc.oneof(fc.constantFrom(...edges), wholeCharacter) })
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
      { numRuns: 1000 },
    )
  })

  it('orders surrogates without a partner by their code points', () => {
    const halves = fc.constantFrom('\ud800', '\ud801', '\udbff', '\udc00', '\udfff')
    const any = fc.array(fc.oneof(halves, fc.constantFrom(...edges)), { maxLength: 5 })
    const text = any.map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(compareLists(codePointsOf(a), codePointsOf(b)))
      }),
      { numRuns: 5000 },
    )
  })
})
