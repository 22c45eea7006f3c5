import { expect, it } from 'vitest'
import { MemoryErrorCode } from '../errors.ts'
import { createMemoryCache } from './memory-cache.ts'

it.each([
  [{ maxBytes: 0 }, 'options.maxBytes: must be above 0'],
  [{ maxBytes: 1.5 }, 'options.maxBytes: '],
  [{ maxEntries: 0 }, 'options.maxEntries: must be above 0'],
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
