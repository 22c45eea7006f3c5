import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cosineSimilarity } from './cosine.ts'

it('is 1 for the same direction, 0 for a right angle, -1 for the opposite', () => {
  expect(cosineSimilarity([1, 2], [2, 4])).toBeCloseTo(1)
  expect(cosineSimilarity([1, 0], [0, 3])).toBe(0)
  expect(cosineSimilarity([1, 1], [-2, -2])).toBeCloseTo(-1)
})

it('is 0 when a vector is all zeros', () => {
  expect(cosineSimilarity([0, 0], [1, 1])).toBe(0)
})

it('stays a number for vectors as small as numbers get', () => {
  expect(cosineSimilarity([1e-162, 0], [0, 1e-162])).toBe(0)
  expect(cosineSimilarity([1e-160, 0], [1e-160, 0])).toBeCloseTo(1, 2)
  expect(cosineSimilarity([5e-324, 5e-324], [1, 1])).toBeCloseTo(1)
})

it('stays a number for vectors as large as numbers get', () => {
  expect(cosineSimilarity([1e300, 1e300], [1e308, 1e308])).toBeCloseTo(1)
  expect(cosineSimilarity([Number.MAX_VALUE, 0], [1, 1])).toBeCloseTo(Math.SQRT1_2)
})

it('is symmetric and within -1..1', () => {
  const vector = fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(vector, vector, (a, b) => {
      const similarity = cosineSimilarity(a, b)
      expect(similarity).toBe(cosineSimilarity(b, a))
      expect(Math.abs(similarity)).toBeLessThanOrEqual(1 + 1e-9)
    }),
  )
})
