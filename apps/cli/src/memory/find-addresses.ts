import {
  type Address,
  conversationType,
  type Entry,
  editedSummaryKey,
  type JsonValue,
  type MemoryScope,
  memoryScopes,
  parseFilter,
  sessionSummaryKey,
  windowNoteType,
} from '@recall/core'
import { isJsonObject } from '@recall/core/json'
import type { FileStore } from '@recall/store-file'
import { everyEntry } from './every-entry.ts'
import { compactionKey, compactionType, sessionOf, withParents } from './session-keys.ts'

/** Finds expired entries, too: they exist until the next clean-up, and have to be forgotten as well. */
const ever = { now: Number.NEGATIVE_INFINITY }

/** The entries under some keys, including archived ones. The key of a session stands for everything kept from it. */
export async function addressesByKey(
  store: FileStore,
  namespace: string,
  keys: readonly string[],
  scope?: MemoryScope,
): Promise<Address[]> {
  const found: Address[] = []
  const sessions = new Set<string>()
  for (const key of keys) {
    let session = sessionOf({ key })
    for (const each of scope ? [scope] : memoryScopes) {
      const address = { scope: each, namespace, key }
      const entry = await keptAt(store, address)
      if (!entry) continue
      found.push(address)
      if (each === 'episodic') session = sessionOf(entry)
    }
    if (session !== undefined && !scope) sessions.add(session)
  }
  return [...found, ...(await ofSessions(store, namespace, sessions))]
}

const keptAt = async (store: FileStore, address: Address): Promise<Entry | null> =>
  (await store.get(address, ever.now)) ?? (await store.cold?.get(address, ever.now)) ?? null

/**
 * The archives of sessions and of their helpers, their entries in the window, their summaries that a person changed,
 * and those of compactions.
 */
async function ofSessions(
  store: FileStore,
  namespace: string,
  sessions: ReadonlySet<string>,
): Promise<Address[]> {
  if (sessions.size === 0) return []
  const found: Address[] = []
  for (const session of sessions) {
    const inWindow = { scope: 'short-term', namespace, key: sessionSummaryKey(session) } as const
    if (await keptAt(store, inWindow)) found.push(inWindow)
  }
  const filter = parseFilter({ type: { in: [conversationType, compactionType, windowNoteType] } })
  // One pass for all sessions: it reads everything that is archived.
  for await (const entry of everyEntry(store, { scope: 'episodic', namespace }, { ...ever, filter })) {
    if (belongsTo(sessions, sessionOf(entry)) || isSummaryOf(sessions, entry.key)) found.push(entry)
  }
  return found
}

const isSummaryOf = (sessions: ReadonlySet<string>, key: string): boolean =>
  [...sessions].some((session) =>
    [compactionKey, editedSummaryKey].some((keyOf) => key.startsWith(keyOf(session, ''))),
  )

/** Whether a session is one of some, or a helper of one. */
const belongsTo = (sessions: ReadonlySet<string>, other = ''): boolean =>
  withParents(other).some((session) => sessions.has(session))

/**
 * The entries that contain a text, and for a session that contains it everything kept from the session; `sealed` counts
 * those that may contain it, because they are encrypted.
 */
export async function addressesByText(
  store: FileStore,
  namespace: string,
  text: string,
  only?: MemoryScope,
): Promise<{ found: Address[]; sealed: number }> {
  const found: Address[] = []
  let sealed = 0
  const sessions = new Set<string>()
  for (const scope of only ? [only] : memoryScopes) {
    for await (const entry of everyEntry(store, { scope, namespace }, ever)) {
      if (!says(entry, text)) {
        if (entry.encrypted) sealed++
        continue
      }
      found.push(entry)
      const session = scope === 'episodic' ? sessionOf(entry) : undefined
      if (session !== undefined && !only) sessions.add(session)
    }
  }
  return { found: [...found, ...(await ofSessions(store, namespace, sessions))], sealed }
}

/**
 * Whether an entry contains a text in any part, including its searchable text: a section's heading is not in its value.
 * The content of an encrypted value is unknown here, and its envelope is not content.
 */
const says = ({ key, type, tags, value, text: foundBy, encrypted }: Entry, text: string): boolean =>
  [key, type, tags, foundBy, ...(encrypted ? [] : [value])].some((part) => holds(part, text))

/** Looks in each string and number, never in the JSON syntax between them. */
function holds(value: JsonValue, text: string): boolean {
  if (typeof value === 'string' || typeof value === 'number') return String(value).includes(text)
  if (Array.isArray(value)) return value.some((item) => holds(item, text))
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([name, member]) => name.includes(text) || holds(member, text))
}

/** Each address once, without the rest of the entry. */
export const distinctAddresses = (addresses: readonly Address[]): Address[] => [
  ...new Map(
    addresses.map(({ scope, namespace, key }) => [
      JSON.stringify([scope, namespace, key]),
      { scope, namespace, key },
    ]),
  ).values(),
]
