import { expect, it } from 'vitest'
import type { SearchIndex, SlidExpiry } from '../search-index/search-index.ts'
import { createExpiryCatchUp } from './expiry-catch-up.ts'

const minute = 60_000

/** An index in which one entry expired, and which notes what it is asked and told. */
const indexOf = (expired: { key: string; at: number }) => {
  const asked: [after: number, until: number][] = []
  const told: SlidExpiry[] = []
  const index = {
    expiredBetween(after: number, until: number) {
      asked.push([after, until])
      const { at, key } = expired
      return at > after && at <= until ? [{ scope: 1, namespace: 'default', key, updated: 1 }] : []
    },
    transaction: (call: () => void) => call(),
    slideExpiry: (slid: SlidExpiry) => told.push(slid),
  } as unknown as SearchIndex
  return { index, asked, told }
}

it('compares with the log what expired since the last time, and a minute before, as a read may be counted late', () => {
  const compared: string[] = []
  const catchUp = createExpiryCatchUp({
    keptAlive: (rows) => {
      compared.push(...rows.map(({ key }) => key))
      return []
    },
  })
  const { index, asked } = indexOf({ key: 'gone', at: 1 })
  for (const now of [10 * minute, 20 * minute, 15 * minute, 30 * minute]) catchUp(index, now)
  expect(asked).toEqual([
    [Number.NEGATIVE_INFINITY, 10 * minute],
    [9 * minute, 20 * minute],
    // The clock was set back.
    [14 * minute, 15 * minute],
    [14 * minute, 30 * minute],
  ])
  expect(compared).toEqual(['gone'])
  catchUp(indexOf({ key: 'gone in another index', at: 1 }).index, 30 * minute)
  expect(compared).toEqual(['gone', 'gone in another index'])
})

it('compares again what it could not compare while the log could not be read', () => {
  let isReadable = false
  const catchUp = createExpiryCatchUp({
    keptAlive: (rows) => (isReadable ? rows.map((row) => ({ ...row, expires: 50 * minute })) : null),
  })
  const { index, told } = indexOf({ key: 'read', at: 1 })
  catchUp(index, 10 * minute)
  expect(told).toEqual([])
  isReadable = true
  catchUp(index, 20 * minute)
  expect(told).toMatchObject([{ scope: 'short-term', key: 'read', updated: 1, expires: 50 * minute }])
})
