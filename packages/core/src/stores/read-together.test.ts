import { expect, it, vi } from 'vitest'
import type { Entry, Place } from '../memory-store.ts'
import { readTogether } from './read-together.ts'

const place = { namespace: 'default', scope: 'working' } as const
const reading = (most: number) => {
  const read = vi.fn(async (at: Place, keys: readonly string[], now: number) =>
    keys.map((key) => (key === 'absent' ? null : ({ ...at, key, accessedAt: now } as Entry))),
  )
  return { read, get: readTogether(most, read) }
}

it('reads keys of one place at one moment in one call, and gives each its own entry', async () => {
  const { read, get } = reading(10)
  const keys = ['a', 'absent', 'b', 'a']
  const found = await Promise.all(keys.map((key) => get({ ...place, key }, 5)))
  expect(found.map((entry) => entry?.key)).toEqual(['a', undefined, 'b', 'a'])
  expect(read.mock.calls).toEqual([[place, keys, 5]])

  expect(await get({ ...place, key: 'a' }, 5)).toMatchObject({ key: 'a' })
  expect(read).toHaveBeenCalledTimes(2)
})

it('keeps places and times apart', async () => {
  const { read, get } = reading(10)
  const other = { ...place, namespace: 'other' }
  const found = await Promise.all([
    get({ ...place, key: 'a' }, 5),
    get({ ...other, key: 'a' }, 5),
    get({ ...place, key: 'a' }, 6),
  ])
  expect(found).toMatchObject([{ namespace: 'default' }, { namespace: 'other' }, { accessedAt: 6 }])
  expect(read).toHaveBeenCalledTimes(3)
})

it('reads no more keys in a call than it may', async () => {
  const { read, get } = reading(2)
  const keys = ['a', 'b', 'c', 'd', 'e']
  const found = await Promise.all(keys.map((key) => get({ ...place, key }, 5)))
  expect(found.map((entry) => entry?.key)).toEqual(keys)
  expect(read.mock.calls.map(([, some]) => some)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
})

it('fails every read of a call that failed, and the next one anew', async () => {
  const { read, get } = reading(10)
  read.mockRejectedValueOnce(new Error('away'))
  const both = ['a', 'b'].map((key) => get({ ...place, key }, 5))
  for (const one of both) await expect(one).rejects.toThrow('away')
  expect(await get({ ...place, key: 'a' }, 5)).toMatchObject({ key: 'a' })
})
