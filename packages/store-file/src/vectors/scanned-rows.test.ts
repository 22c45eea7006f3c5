import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createScannedRows, type ScannedRows } from './scanned-rows.ts'
import { hashLength, rowShape } from './vector-format.ts'

/** Adds rows of these integers, each with a scale of its own. */
function addRows(rows: ScannedRows, integers: number[][]): void {
  const { stride } = rowShape(integers[0]?.length ?? 1)
  rows.add(integers.length, (target) => {
    target.fill(0)
    const view = new DataView(target.buffer, target.byteOffset)
    integers.forEach((row, i) => {
      view.setFloat32(i * stride + hashLength, scaleOf(row), true)
      target.set(Int8Array.from(row), i * stride + hashLength + 4)
    })
  })
}

const scaleOf = ([first = 0]: number[]): number => 1 / (1 + Math.abs(first))

const integersOf = (dimensions: number) =>
  fc.array(fc.integer({ min: -127, max: 127 }), { minLength: dimensions, maxLength: dimensions })

const cases = fc.integer({ min: 1, max: 150 }).chain((dimensions) =>
  fc.record({
    query: integersOf(dimensions),
    batches: fc.array(fc.array(integersOf(dimensions), { minLength: 1, maxLength: 9 }), { maxLength: 6 }),
    slots: fc.array(fc.nat(60), { maxLength: 40 }),
  }),
)

it('compares a query with the rows in some slots, however the rows came', () => {
  fc.assert(
    fc.property(cases, ({ query, batches, slots }) => {
      const rows = createScannedRows(query.length)
      for (const batch of batches) addRows(rows, batch)
      const all = batches.flat()
      expect(rows.count).toBe(all.length)
      const found = rows.ask(Float32Array.from(query)).similarities(Int32Array.from(slots))
      slots.forEach((slot, i) => {
        const integers = all[slot] ?? query.map(() => 0)
        const product = integers.reduce((sum, value, j) => sum + value * (query[j] as number), 0)
        const similarity = product * scaleOf(integers)
        // Each number of the query is rounded to one of 65,535, and the similarity to a float of 32 bits.
        const rounding = Math.max(...query.map(Math.abs)) / 32767 / 2
        const weight = integers.reduce((sum, value) => sum + Math.abs(value), 0) * scaleOf(integers)
        expect(Math.abs((found[i] as number) - similarity)).toBeLessThanOrEqual(
          rounding * weight + 1e-6 * (1 + Math.abs(similarity)),
        )
      })
    }),
  )
})

it('compares with no rows', () => {
  const question = createScannedRows(4).ask(Float32Array.of(1, -1, 0, 1))
  expect(question.similarities(Int32Array.of(0, 7), Float32Array.of(1, 1))).toEqual(Float32Array.of(0, 0))
})

it('counts in how many signs the rows differ, also where some came after the others were sketched', () => {
  fc.assert(
    fc.property(cases, ({ query, batches, slots }) => {
      const rows = createScannedRows(query.length)
      const all: number[][] = []
      for (const batch of [...batches, []]) {
        const question = rows.ask(Float32Array.from(query))
        const found = question.differences(Int32Array.from(slots))
        const most = found[0] ?? 0
        const within = [...found.keys()].filter((at) => (found[at] as number) <= most)
        expect([...question.within(Int32Array.from(slots), most)]).toEqual(within)
        slots.forEach((slot, i) => {
          const differing = all[slot]?.filter((value, j) => value < 0 !== (query[j] as number) < 0).length
          expect(found[i]).toBe(differing ?? Math.ceil(query.length / 128) * 128)
        })
        addRows(rows, batch)
        all.push(...batch)
      }
    }),
  )
})
