import fc from 'fast-check'
import { expect, it } from 'vitest'
import { confidenceOf } from './confidence.ts'

const score = fc.double({ min: 0, max: 1, noNaN: true })

it('lies between 0 and 1, rises with the score and falls with the tenth', () => {
  fc.assert(
    fc.property(score, score, score, fc.boolean(), (a, b, tenth, byMeaning) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const of = (best: number, tenth: number): number => confidenceOf(best, tenth, byMeaning)
      expect(of(high, tenth)).toBeGreaterThanOrEqual(of(low, tenth))
      expect(of(high, tenth)).toBeGreaterThanOrEqual(0)
      expect(of(high, tenth)).toBeLessThanOrEqual(1)
      expect(of(tenth, low)).toBeGreaterThanOrEqual(of(tenth, high))
    }),
  )
})

it('trusts what stands out more than what is one of many alike', () => {
  expect(confidenceOf(0.5, 0.1, true)).toBeGreaterThan(2 * confidenceOf(0.5, 0.5, true))
  expect(confidenceOf(0.5, 0.5, true)).toBeGreaterThan(0.15)
  expect(confidenceOf(0.02, 0, true)).toBeLessThan(0.1)
})

it('takes as much for surer where words alone reach it', () => {
  expect(confidenceOf(0.4, 0.2, false)).toBeGreaterThan(confidenceOf(0.4, 0.2, true))
  expect(confidenceOf(0.01, 0, false)).toBeLessThan(0.1)
})
