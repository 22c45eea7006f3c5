import fc from 'fast-check'
import { expect, it } from 'vitest'
import { confidenceOf } from './confidence.ts'

const score = fc.double({ min: 0, max: 1, noNaN: true })

it('lies between 0 and 1, rises with the score and falls with the tenth', () => {
  fc.assert(
    fc.property(score, score, score, (a, b, tenth) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      const confidence = confidenceOf(high, tenth)
      expect(confidence).toBeGreaterThanOrEqual(confidenceOf(low, tenth))
      expect(confidence).toBeGreaterThanOrEqual(0)
      expect(confidence).toBeLessThanOrEqual(1)
      expect(confidenceOf(tenth, low)).toBeGreaterThanOrEqual(confidenceOf(tenth, high))
    }),
  )
})

it('trusts what stands out more than what is one of many alike', () => {
  expect(confidenceOf(0.5, 0.1)).toBeGreaterThan(2 * confidenceOf(0.5, 0.5))
  expect(confidenceOf(0.5, 0.5)).toBeGreaterThan(0.15)
  expect(confidenceOf(0.02, 0)).toBeLessThan(0.1)
})
