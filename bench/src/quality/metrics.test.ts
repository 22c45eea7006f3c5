import { expect, it } from 'vitest'
import { allAt, ndcg, precisionAt, recallAt, reciprocalRank } from './metrics.ts'

it('measures a ranking worked out by hand', () => {
  const found = ['a', 'x', 'b', 'y']
  const gold = ['a', 'b', 'c']
  expect(recallAt(1, found, gold)).toBeCloseTo(1 / 3)
  expect(recallAt(10, found, gold)).toBeCloseTo(2 / 3)
  expect(allAt(5, found, gold)).toBe(0)
  expect(allAt(5, found, ['a', 'b'])).toBe(1)
  expect(precisionAt(4, found, gold)).toBeCloseTo(0.5)
  expect(reciprocalRank(found, ['b'])).toBeCloseTo(1 / 3)
  expect(reciprocalRank(found, ['z'])).toBe(0)
  // Gains at ranks 1 and 3, of ideal ones at 1, 2 and 3.
  expect(ndcg(found, gold)).toBeCloseTo((1 + 0.5) / (1 + 1 / Math.log2(3) + 0.5))
})
