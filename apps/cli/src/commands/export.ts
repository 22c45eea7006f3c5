import {
  conversationType,
  type Entry,
  isMemoryError,
  MemoryError,
  type MemoryScope,
  memoryScopes,
  redactJson,
  redactText,
  sessionSummaryType,
} from '@recall/core'
import { searchableText } from '@recall/core/json'
import { entryMetadata } from '@recall/core/stores'
import { addCounts } from '../add-counts.ts'
import { everyEntry, everyNamespace, type KeptEntry } from '../memory/every-entry.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { formatCounts } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { throwAll } from '../throw-all.ts'

/**
 * Prints one JSON line for each entry of every namespace, in all scopes or one: its metadata, its searchable text if
 * that differs from its value, and its value with secrets redacted. Encrypted values stay encrypted.
 *
 * @throws MemoryError naming the scopes in which something cannot be read, after printing the others
 */
export async function exportMemory(
  io: Io,
  options: RootOptions & { scope?: MemoryScope },
): Promise<undefined> {
  const scopes = options.scope ? [options.scope] : memoryScopes
  const redactions: Record<string, number> = {}
  const failed: MemoryError[] = []
  return withStore(io, options, async (store) => {
    for (const place of everyNamespace(store).flatMap((namespace) =>
      scopes.map((scope) => ({ namespace, scope })),
    )) {
      try {
        for await (const entry of everyEntry(store, place, { now: io.now() })) {
          const { line, counts } = lineOf(entry)
          addCounts(redactions, counts)
          io.out(`${JSON.stringify(line)}\n`)
        }
      } catch (error) {
        if (!isMemoryError(error)) throw error
        failed.push(
          new MemoryError(`${place.scope} is not exported completely: ${error.message}`, error.code),
        )
      }
    }
    if (Object.keys(redactions).length > 0)
      io.err(`recall: secrets replaced in what was exported: ${formatCounts(redactions)}; see recall scrub\n`)
    throwAll(failed)
    return undefined
  })
}

/** An entry as exported, without secrets, and how many there were. */
function lineOf({ archived, ...entry }: KeptEntry): { line: object; counts: Record<string, number> } {
  // Ciphertext reveals nothing, but may look like a secret.
  const { value, counts } = entry.encrypted ? { value: entry.value, counts: {} } : redactJson(entry.value)
  const found = foundBy(entry)
  const labels = redactJson({ tags: [...entry.tags], type: entry.type })
  const line = {
    ...entryMetadata(entry),
    ...(labels.value as Pick<Entry, 'tags' | 'type'>),
    ...(entry.ttl === null ? {} : { ttl: entry.ttl }),
    ...(archived ? { archived } : {}),
    ...found.options,
    value,
  }
  const all: Record<string, number> = { ...counts }
  addCounts(all, found.counts)
  addCounts(all, labels.counts)
  return { line, counts: all }
}

/** Entries that are part of a document; their searchable text is derived again from the document. */
const partTypes: ReadonlySet<string | null> = new Set(['section', conversationType, sessionSummaryType])

/** The searchable text of an entry, in the form of the write options; nothing if that is its value. */
function foundBy({ encrypted, type, text, value }: Entry): {
  options: { index?: false; text?: string }
  counts: Readonly<Record<string, number>>
} {
  if (encrypted || partTypes.has(type) || text === searchableText(value)) return { options: {}, counts: {} }
  if (text === '') return { options: { index: false }, counts: {} }
  const { text: redacted, counts } = redactText(text)
  return { options: { text: redacted }, counts }
}
