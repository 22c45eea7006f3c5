import { createMemoryManager, type MemoryManager, type MemoryMatch, type MemoryScope } from '@recall/core'
import type { FileStore } from '@recall/store-file'
import type { Io } from './io.ts'

const pageSize = 200

/** The memories of everybody who has one below a root: one of each namespace. */
export function everyMemory(io: Io, store: FileStore): MemoryManager[] {
  const namespaces = new Set(['default', ...store.index.query((current) => current.namespaces())])
  return [...namespaces].map((namespace) => createMemoryManager({ stores: store, namespace, clock: io.now }))
}

/** Every entry of some scopes that passes the filters, also what is archived, oldest first. */
export async function* everyEntry(
  memory: MemoryManager,
  scopes: readonly MemoryScope[],
  filters: Record<string, unknown> = {},
): AsyncGenerator<MemoryMatch<unknown>> {
  for (const scope of scopes) {
    for (let offset = 0; ; offset += pageSize) {
      const page = await memory.search(
        scope,
        { filters },
        { limit: pageSize, offset, sortOrder: 'asc', touch: false, includeArchived: true },
      )
      yield* page
      if (page.length < pageSize) break
    }
  }
}
