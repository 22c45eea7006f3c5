import { readLines } from '@recall/agents'
import {
  checkAddress,
  createRedactor,
  type Entry,
  type Envelope,
  isEnvelope,
  isMemoryError,
  type JsonObject,
  type JsonValue,
  MemoryErrorCode,
  type MemoryScope,
  memoryScopes,
  redactJson,
} from '@recall/core'
import { equalJson, isJsonObject, searchableText, toJsonValue } from '@recall/core/json'
import { beginningOf } from '@recall/core/text'
import type { FileStore } from '@recall/store-file'
import { addCounts } from '../add-counts.ts'
import { readForgotten } from '../memory/forgotten.ts'
import { emptyOutcome, type ImportOutcome } from './import-report.ts'

type ExportedEntry = Entry & { archived: boolean }

/**
 * Imports the output of `recall export`: each entry under its key and namespace, with its times. An existing entry is
 * not replaced.
 *
 * @param options.since leaves out entries that were last written before this time, in milliseconds since the epoch
 * @returns a function that imports a file, or returns `null` if it does not begin with an exported entry
 */
export function createEntryImporter(
  store: FileStore,
  { since, now }: { since: number; now: number },
): (path: string) => Promise<ImportOutcome | null> {
  const isForgotten = readForgotten(store)

  const putBack = async (entry: ExportedEntry, outcome: ImportOutcome, isFirst = true): Promise<void> => {
    const target = entry.archived && store.cold ? store.cold : store
    // It may have been archived, or brought back, since it was exported.
    const present = (await store.get(entry, now)) ?? (await store.cold?.get(entry, now)) ?? null
    if (isForgotten(entry)) outcome.forgotten++
    else if (present !== null) outcome[isSame(present.value, entry.value) ? 'unchanged' : 'kept']++
    else {
      try {
        await target.put(entry, { overwrite: false, now })
        outcome.written++
      } catch (error) {
        if (!isFirst || !isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
        // Another process wrote it meanwhile.
        await putBack(entry, outcome, false)
      }
    }
  }

  const importEntry = async (raw: ExportedEntry, outcome: ImportOutcome): Promise<void> => {
    if (isSecretlyNamed(raw))
      return addCounts(outcome.skipped, { 'entry whose key or namespace holds a secret': 1 })
    try {
      const { entry, counts } = admitted(raw)
      addCounts(outcome.redactions, counts)
      await putBack(entry, outcome)
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) throw error
      addCounts(outcome.skipped, { 'entry that a memory does not accept': 1 })
    }
  }

  const isWanted = ({ updatedAt, expiresAt }: ExportedEntry): boolean =>
    updatedAt >= since && (expiresAt === null || expiresAt > now)

  return async (path) => {
    if (!(await isExport(path))) return null
    const outcome = emptyOutcome()
    // Entries of the window refer to archives, so archives come first.
    for (const isWindow of [false, true]) {
      for await (const { text } of readLines(path, { maxLineBytes })) {
        const raw = parseEntry(text ?? '')
        if (raw === null && !isWindow) addCounts(outcome.skipped, { 'line that is not an exported entry': 1 })
        if (raw === null || !isWanted(raw) || (raw.scope === 'short-term') !== isWindow) continue
        await importEntry(raw, outcome)
      }
    }
    return outcome
  }
}

/** Compares values, ignoring the number that the store gives to each archive. */
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return equalJson(one, other)
  const [{ log: _, ...a }, { log: __, ...b }] = [one, other]
  return equalJson(a, b)
}

/**
 * Redacts an entry, because somebody may have added a secret to the file.
 *
 * @throws MemoryError INVALID_INPUT for a key or a namespace that a memory refuses
 */
function admitted(raw: ExportedEntry): {
  entry: ExportedEntry
  counts: Readonly<Record<string, number>>
} {
  checkAddress(raw)
  const counts: Record<string, number> = {}
  const clean = <T extends JsonValue>(given: T): T => {
    const redacted = redactJson(given)
    addCounts(counts, redacted.counts)
    return redacted.value as T
  }
  const { type, tags } = clean({ type: raw.type, tags: [...raw.tags] })
  const value = isEnvelope(raw.value) ? sealed(raw.value, clean) : clean(raw.value)
  const text = raw.text === searchableText(raw.value) ? searchableText(value) : clean(raw.text)
  const labels = {
    type: type === null ? null : toLabel(type) || null,
    tags: tags.map(toLabel).filter(Boolean),
  }
  return { entry: { ...raw, ...labels, value, text }, counts }
}

/** Ciphertext reveals nothing, but may look like a secret. */
const sealed = ({ iv, data, ...rest }: Envelope, clean: <T extends JsonValue>(given: T) => T): JsonValue => ({
  ...clean(rest),
  iv,
  data,
})

/** A tag, or a type, in the form that a memory accepts. */
const toLabel = (text: string): string =>
  beginningOf(text.replace(/\p{Cc}+/gu, ' ').replace(/^\ufeff+/, ''), 256).toWellFormed()

const { checkKey } = createRedactor('redact')

/** Without its secret, a name could equal that of another memory, and one of the two would be left out. */
function isSecretlyNamed({ key, namespace, scope }: ExportedEntry): boolean {
  try {
    for (const name of [key, namespace]) checkKey(name, scope)
    return false
  } catch {
    return true
  }
}

/** An entry is one line, however long its value. */
const maxLineBytes = 512 * 1024 * 1024

async function isExport(path: string): Promise<boolean> {
  for await (const { text } of readLines(path, { maxLineBytes })) {
    if (text?.trim() !== '') return parseEntry(text ?? '') !== null
  }
  return false
}

function parseEntry(line: string): ExportedEntry | null {
  let raw: JsonValue
  try {
    raw = JSON.parse(line)
  } catch {
    return null
  }
  if (!isJsonObject(raw) || !Object.hasOwn(raw, 'value')) return null
  const { key, scope, namespace, type, tags, createdAt, updatedAt, value = null } = raw
  if (typeof key !== 'string' || typeof namespace !== 'string' || !isScope(scope)) return null
  if (!isTime(createdAt) || !isTime(updatedAt) || !isTaken(value)) return null
  return {
    key,
    scope,
    namespace,
    type: typeof type === 'string' ? type : null,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    value,
    text: textOf(raw, value),
    createdAt,
    updatedAt,
    accessedAt: isTime(raw.accessedAt) ? raw.accessedAt : updatedAt,
    accessCount: isCount(raw.accessCount) ? raw.accessCount : 0,
    ttl: isCount(raw.ttl) && raw.ttl > 0 ? raw.ttl : null,
    expiresAt: isTime(raw.expiresAt) ? raw.expiresAt : null,
    encrypted: isEnvelope(value),
    embedding: null,
    archived: raw.archived === true,
  }
}

/** Whether a memory accepts a value: walking one that is nested deeper could exhaust the stack. */
function isTaken(value: JsonValue): boolean {
  try {
    toJsonValue(value)
    return true
  } catch {
    return false
  }
}

/** An export gives the searchable text of an entry only if it differs from its value. */
function textOf({ index, text }: JsonObject, value: JsonValue): string {
  if (isEnvelope(value) || index === false) return ''
  return typeof text === 'string' ? text : searchableText(value)
}

const isScope = (scope: unknown): scope is MemoryScope => memoryScopes.some((each) => each === scope)

const isCount = (count: unknown): count is number => Number.isSafeInteger(count) && (count as number) >= 0

/** Milliseconds since 1970, negative before that, within the range of dates. */
const isTime = (time: unknown): time is number =>
  Number.isInteger(time) && !Number.isNaN(new Date(time as number).getTime())
