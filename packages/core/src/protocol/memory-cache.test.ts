import { expect, it } from 'vitest'
import { MemoryErrorCode } from '../errors.ts'
import { createMemoryCache } from './memory-cache.ts'

it.each([
  [{ maxBytes: 0 }, 'options.maxBytes: must be above 0'],
  [{ maxBytes: 1.5 }, 'options.maxBytes: '],
  [{ maxEntries: 0 }, 'options.maxEntries: must be above 0'],
  [{ maxEntries: 1_000_001 }, 'options.maxEntries: must be at most 1,000,000'],
  [{ maxEntries: '10' }, 'options.maxEntries: '],
  [{ maxByte: 10 }, 'options: Unrecognized key: "maxByte"'],
])('refuses %j in words of its own', (options, message) => {
  expect(() => createMemoryCache(options as never)).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining(message),
    }),
  )
})

it.each([
  [{}, 16],
  [{ maxBytes: 4 * 1024 * 1024 }, 4],
  [{ maxEntries: 3 }, 3],
])('keeps the latest values that fit, with %j %d of one megabyte', (options, kept) => {
  const cache = createMemoryCache(options)
  const value = 'x'.repeat(1024 * 1024 - 2)
  const names = Array.from({ length: 20 }, (_, i) => `entry ${i}`)
  for (const name of names) cache.set(name, { entry: { value, ttl: null, expiresAt: null }, stamp: '' })
  expect(names.filter((name) => cache.get(name))).toEqual(names.slice(-kept))
})
