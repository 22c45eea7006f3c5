import { type MemoryScope, memoryScopes } from '@recall/core'
import { everyEntry, everyMemory } from '../every-entry.ts'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** One JSON line an entry: value and metadata, of every namespace, all scopes or one. */
export async function exportMemory(
  io: Io,
  options: RootOptions & { scope?: MemoryScope },
): Promise<undefined> {
  const scopes = options.scope ? [options.scope] : memoryScopes
  return withStore(io, options, async (store) => {
    for (const memory of everyMemory(io, store)) {
      for await (const { value, metadata, archived } of everyEntry(memory, scopes)) {
        io.out(`${JSON.stringify({ ...metadata, ...(archived ? { archived } : {}), value })}\n`)
      }
    }
    return undefined
  })
}
