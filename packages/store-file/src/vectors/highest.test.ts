import fc from 'fast-check'
import { expect, it } from 'vitest'
import { highest } from './highest.ts'

it('gives what sorting all of them would', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -20, max: 20 })),
      fc.nat(30),
      fc.integer({ min: -25, max: 25 }),
      (numbers, count, least) => {
        const values = Float32Array.from(numbers)
        const expected = [...values].filter((value) => value >= least).sort((a, b) => b - a)
        const found = highest(values, count, least).map((i) => values[i] as number)
        expect(found).toEqual(expected.slice(0, count))
      },
    ),
  )
})
