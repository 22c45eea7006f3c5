import { expect, it } from 'vitest'
import { median, pairedRatio, quantile } from './statistics.ts'

it('takes quantiles by the nearest rank', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, 3])).toBe(2)
  expect(quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.95)).toBe(10)
})

it('pairs two series round by round, so that a slow minute counts on both sides', () => {
  expect(pairedRatio([2, 20, 2], [1, 10, 1])).toBe(2)
})
