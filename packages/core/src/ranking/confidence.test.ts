import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Basis, confidenceOf } from './confidence.ts'

const score = fc.double({ min: 0, max: 1, noNaN: true })
const basis = fc.constantFrom<Basis>('words', 'turn', 'note')

it('lies between 0 and 1, rises with the score and falls with the tenth', () => {
  fc.assert(
    fc.property(score, score, score, basis, (a, b, tenth, basis) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const of = (best: number, tenth: number): number => confidenceOf(best, tenth, basis)
      expect(of(high, tenth)).toBeGreaterThanOrEqual(of(low, tenth))
      expect(of(high, tenth)).toBeGreaterThanOrEqual(0)
      expect(of(high, tenth)).toBeLessThanOrEqual(1)
      expect(of(tenth, low)).toBeGreaterThanOrEqual(of(tenth, high))
    }),
  )
})

it.each(['words', 'turn', 'note'] as const)(
  'trusts what stands out more than one of many alike: %s',
  (basis) => {
    expect(confidenceOf(0.5, 0.1, basis)).toBeGreaterThan(1.5 * confidenceOf(0.5, 0.5, basis))
    expect(confidenceOf(0.5, 0.5, basis)).toBeGreaterThan(0.15)
    expect(confidenceOf(0.01, 0, basis)).toBeLessThan(0.1)
  },
)

it('is less sure of the same strength where meaning adds more to it', () => {
  const [words, turn, note] = (['words', 'turn', 'note'] as const).map((each) => confidenceOf(0.4, 0.2, each))
  expect([words, turn, note]).toEqual([words, turn, note].sort().reverse())
})
