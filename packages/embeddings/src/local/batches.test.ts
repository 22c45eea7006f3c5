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
        expect(batch.length * Math.max(...batch.map((i) => lengths[i] as number))).toBeLessThanOrEqual(4096)
      }
    }),
  )
})

it('puts texts of one length together', () => {
  expect(batchByLength([500, 3, 500, 3])).toEqual([[1, 3, 0, 2]])
})
