import fc from 'fast-check'
import { expect, it } from 'vitest'
import { batchByLength } from './batches.ts'

it('takes every text once, in batches of bounded size', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 2, max: 512 }), { maxLength: 200 }), (lengths) => {
      const batches = batchByLength(lengths)
      expect(batches.flat().sort((a, b) => a - b)).toEqual(lengths.map((_, i) => i))
      for (const batch of batches) {
        expect(batch.length).toBeGreaterThan(0)
        expect(batch.length).toBeLessThanOrEqual(16)
        expect(batch.length * Math.max(...batch.map((i) => lengths[i] as number))).toBeLessThanOrEqual(1024)
      }
    }),
  )
})

it('puts texts of one length together', () => {
  expect(batchByLength([500, 3, 500, 3])).toEqual([
    [1, 3],
    [0, 2],
  ])
  expect(
    batchByLength(Array.from({ length: 40 }, () => 20))
      .map(({ length }) => length)
      .sort(),
  ).toEqual([16, 16, 8].sort())
})

it('pads a text only where that costs less than a run of its own', () => {
  expect(batchByLength([20, 30])).toEqual([[0, 1]])
  expect(batchByLength([20, 40])).toEqual([[0], [1]])
  // One short text more, and it is no longer worth it to pad them all.
  expect(batchByLength([20, 20, 30])).toEqual([[0, 1], [2]])
})

it('takes a text that is longer than a batch by itself', () => {
  expect(batchByLength([5000, 4])).toEqual([[1], [0]])
})
