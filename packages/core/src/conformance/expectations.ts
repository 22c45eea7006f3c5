import { expect } from 'vitest'
import { isMemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryManager, SearchOptions, SearchQuery } from '../memory-manager.ts'
import type { MemoryScope } from '../scope.ts'

/** Expects a call to be refused with a `MemoryError` of this code. */
export async function refused(
  code: keyof typeof MemoryErrorCode,
  call: () => Promise<unknown>,
): Promise<void> {
  const outcome: unknown = await call().then(
    () => 'no error',
    (error: unknown) => (isMemoryError(error) ? error.code : error),
  )
  expect(outcome).toBe(MemoryErrorCode[code])
}

/** The keys that a search finds, in its order, without counting as an access. */
export async function keysFound(
  memory: MemoryManager,
  scope: MemoryScope,
  query: SearchQuery,
  options: SearchOptions = {},
): Promise<string[]> {
  const matches = await memory.search(scope, query, { limit: 1000, touch: false, ...options })
  return matches.map(({ key }) => key)
}

/** A valid call of every method. */
export function everyCall(
  memory: MemoryManager,
  scope: MemoryScope,
  key: string,
): Record<string, () => Promise<unknown>> {
  return {
    write: () => memory.write(scope, key, 1),
    read: () => memory.read(scope, key),
    search: () => memory.search(scope, {}),
    clear: () => memory.clear(scope),
    delete: () => memory.delete(scope, key),
    exists: () => memory.exists(scope, key),
    restore: () => memory.restore(scope, key),
    cleanup: () => memory.cleanup({ scope }),
    batchRead: () => memory.batchRead(scope, [key]),
    batchWrite: () => memory.batchWrite(scope, [{ key, value: 1 }]),
    atomicUpdate: () => memory.atomicUpdate(scope, [{ operation: 'delete', key }]),
  }
}
