import { expect, it } from 'vitest'
import { MemoryErrorCode } from '../errors.ts'
import { createInMemoryStore, type InMemoryStoreOptions } from './in-memory-store.ts'

it('refuses an option that there is not, which would be ignored', () => {
  const misspelt = { archived: false } as InMemoryStoreOptions
  expect(() => createInMemoryStore(misspelt)).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: 'options: Unrecognized key: "archived"',
    }),
  )
})
