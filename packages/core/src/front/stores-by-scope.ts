import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryStore } from '../memory-store.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'

/** @throws MemoryError INVALID_INPUT when a scope has no store */
export function storesByScope(
  stores: MemoryStore | Record<MemoryScope, MemoryStore>,
): Record<MemoryScope, MemoryStore> {
  const given = isStore(stores) ? byScope(() => stores) : stores
  for (const scope of memoryScopes) {
    if (isStore(given?.[scope])) continue
    throw new MemoryError(
      `stores: there is no store for ${scope}; give one for all scopes, such as createInMemoryStore(), or one for each of ${memoryScopes.join(', ')}, opened already`,
      MemoryErrorCode.INVALID_INPUT,
      { scope },
    )
  }
  return given
}

export const byScope = <T>(make: (scope: MemoryScope) => T): Record<MemoryScope, T> =>
  Object.fromEntries(memoryScopes.map((scope) => [scope, make(scope)])) as Record<MemoryScope, T>

const isStore = (stores: unknown): stores is MemoryStore =>
  typeof (stores as Partial<MemoryStore> | undefined)?.put === 'function'
