import {
  conversationType,
  type Entry,
  entryMetadata,
  type MemoryScope,
  memoryScopes,
  redactJson,
  redactText,
  searchableText,
  sessionSummaryType,
} from '@recall/core'
import { addCounts } from '../imports/add-counts.ts'
import { everyEntry, everyNamespace } from '../memory/every-entry.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { formatCounts } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'

/**
 * Prints one JSON line for each entry of every namespace, in all scopes or one: its metadata, what it is found by if
 * that is not its value, and its value with secrets redacted. Encrypted values stay encrypted.
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
        const found = foundBy(entry)
        addCounts(redactions, counts)
        addCounts(redactions, found.counts)
        const line = {
          ...entryMetadata(entry),
          ...(entry.ttl === null ? {} : { ttl: entry.ttl }),
          ...(archived ? { archived } : {}),
          ...found.options,
          value,
        }
        io.out(`${JSON.stringify(line)}\n`)
      }
    }
    if (Object.keys(redactions).length > 0)
      io.err(`recall: secrets replaced in what was exported: ${formatCounts(redactions)}; see recall scrub\n`)
    return undefined
  })
}

/** Entries that are a part of a document; what finds them is made of it anew. */
const partTypes: ReadonlySet<string | null> = new Set(['section', conversationType, sessionSummaryType])

/** What an entry is found by, as the options of its write say it; nothing when that is its value. */
function foundBy({ encrypted, type, text, value }: Entry): {
  options: { index?: false; text?: string }
  counts: Readonly<Record<string, number>>
} {
  if (encrypted || partTypes.has(type) || text === searchableText(value)) return { options: {}, counts: {} }
  if (text === '') return { options: { index: false }, counts: {} }
  const { text: redacted, counts } = redactText(text)
  return { options: { text: redacted }, counts }
}
