import fc from 'fast-check'
import { expect, it } from 'vitest'
import { growthExponent, median, pairedRatio, quantile } from './statistics.ts'

it('takes quantiles by the nearest rank', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, 3])).toBe(2)
  expect(quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.95)).toBe(10)
})

it('pairs two series round by round, so that a slow minute counts on both sides', () => {
  expect(pairedRatio([2, 20, 2], [1, 10, 1])).toBe(2)
})

it('finds the exponent of any power law, whatever its factor', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -2, max: 3, noNaN: true }),
      fc.double({ min: 0.001, max: 1000, noNaN: true }),
      (exponent, factor) => {
        const points = [1e3, 1e4, 1e5, 1e6].map((x) => ({ x, y: factor * x ** exponent }))
        expect(growthExponent(points)).toBeCloseTo(exponent, 6)
      },
    ),
  )
})

it('fits a line through figures that scatter, each size counting the same', () => {
  const scattered = [
    { x: 10, y: 1 },
    { x: 100, y: 100 },
    { x: 1000, y: 100 },
  ]
  expect(growthExponent(scattered)).toBeCloseTo(1, 10)
})

it('has no exponent for one size, or for a figure of nothing', () => {
  expect(growthExponent([{ x: 10, y: 1 }])).toBeNaN()
  expect(growthExponent([])).toBeNaN()
  const nothing = [
    { x: 10, y: 0 },
    { x: 100, y: 1 },
  ]
  expect(growthExponent(nothing)).toBeNaN()
})
