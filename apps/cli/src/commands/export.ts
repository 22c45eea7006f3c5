import { entryMetadata, type MemoryScope, memoryScopes, redactJson } from '@recall/core'
import { everyEntry, everyNamespace } from '../every-entry.ts'
import type { RootOptions } from '../find-root.ts'
import { formatCounts } from '../format.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/**
 * Prints one JSON line for each entry of every namespace, in all scopes or one: its metadata, and its value with
 * secrets redacted. Encrypted values stay encrypted.
 */
export async function exportMemory(
  io: Io,
  options: RootOptions & { scope?: MemoryScope },
): Promise<undefined> {
  const scopes = options.scope ? [options.scope] : memoryScopes
  const redactions: Record<string, number> = {}
  return withStore(io, options, async (store) => {
    for (const place of everyNamespace(store).flatMap((namespace) =>
      scopes.map((scope) => ({ namespace, scope })),
    )) {
      for await (const { archived, ...entry } of everyEntry(store, place, { now: io.now() })) {
        // A ciphertext reveals nothing, but may look like a secret.
        const { value, counts } = entry.encrypted
          ? { value: entry.value, counts: {} }
          : redactJson(entry.value)
        for (const [kind, n] of Object.entries(counts)) redactions[kind] = (redactions[kind] ?? 0) + n
        io.out(`${JSON.stringify({ ...entryMetadata(entry), ...(archived ? { archived } : {}), value })}\n`)
      }
    }
    if (Object.keys(redactions).length > 0)
      io.err(`recall: secrets replaced in what was exported: ${formatCounts(redactions)}; see recall scrub\n`)
    return undefined
  })
}
