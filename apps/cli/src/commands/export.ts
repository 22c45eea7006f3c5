import { type MemoryScope, memoryScopes, redactJson, toJsonValue } from '@recall/core'
import { everyEntry, everyMemory } from '../every-entry.ts'
import type { RootOptions } from '../find-root.ts'
import { formatCounts } from '../format.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** One JSON line an entry: value without secrets and metadata, of every namespace, all scopes or one. */
export async function exportMemory(
  io: Io,
  options: RootOptions & { scope?: MemoryScope },
): Promise<undefined> {
  const scopes = options.scope ? [options.scope] : memoryScopes
  const redactions: Record<string, number> = {}
  return withStore(io, options, async (store) => {
    for (const memory of everyMemory(io, store)) {
      for await (const { value: kept, metadata, archived } of everyEntry(memory, scopes)) {
        const { value, counts } = redactJson(toJsonValue(kept))
        for (const [kind, n] of Object.entries(counts)) redactions[kind] = (redactions[kind] ?? 0) + n
        io.out(`${JSON.stringify({ ...metadata, ...(archived ? { archived } : {}), value })}\n`)
      }
    }
    if (Object.keys(redactions).length > 0)
      io.err(`recall: secrets replaced in what was exported: ${formatCounts(redactions)}; see recall scrub\n`)
    return undefined
  })
}
