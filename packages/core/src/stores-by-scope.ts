import type { MemoryStore } from './memory-store.ts'
import { type MemoryScope, memoryScopes } from './scope.ts'

export function storesByScope(
  stores: MemoryStore | Record<MemoryScope, MemoryStore>,
): Record<MemoryScope, MemoryStore> {
  return isOneStore(stores) ? byScope(() => stores) : stores
}

export const byScope = <T>(make: (scope: MemoryScope) => T): Record<MemoryScope, T> =>
  Object.fromEntries(memoryScopes.map((scope) => [scope, make(scope)])) as Record<MemoryScope, T>

const isOneStore = (stores: MemoryStore | Record<MemoryScope, MemoryStore>): stores is MemoryStore =>
  'capabilities' in stores
