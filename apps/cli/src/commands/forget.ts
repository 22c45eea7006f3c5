import {
  type Address,
  conversationType,
  createMemoryManager,
  type Entry,
  editedSummaryKey,
  isJsonObject,
  type JsonValue,
  type MemoryScope,
  memoryScopes,
  parseFilter,
  sessionSummaryKey,
  windowNoteType,
} from '@recall/core'
import { addTombstones, defaultFileSystem, type FileStore, liftTombstones } from '@recall/store-file'
import { sha256 } from '../digest.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { compactionKey, compactionType } from '../hosts/host-sessions.ts'
import { everyEntry, everyNamespace } from '../memory/every-entry.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { sessionKeptIn, sessionOf, withParents } from '../memory/forgotten.ts'
import { withStore } from '../memory/with-store.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

export interface ForgetOptions extends RootOptions {
  json?: boolean
  containing?: string
  scope?: MemoryScope
  yes?: boolean
}

/** Removes memories for good and leaves tombstones, so that an import does not bring them back. */
export async function forget(io: Io, keys: string[], options: ForgetOptions): Promise<number> {
  const { containing, scope } = options
  if (keys.length === 0 && !containing)
    throw new UsageError('say which key to forget, or --containing <text>')
  return withStore(io, options, async (store) => {
    const found: Address[] = []
    let sealed = 0
    for (const namespace of everyNamespace(store)) {
      found.push(...(await byKey(store, namespace, keys, scope)))
      if (!containing) continue
      const saying = await byText(store, namespace, containing, scope)
      found.push(...saying.found)
      sealed += saying.sealed
    }
    if (sealed > 0) io.err(`recall: ${notLookedInto(sealed)}\n`)
    const addresses = distinct(found)
    if (options.yes) await remove(io, store, addresses)
    const missing = keysWithNothing(keys, addresses)
    const ofEchoes = addresses.flatMap(({ key }) => echoIn(key) ?? [])
    const receipt = {
      forgotten: options.yes === true && addresses.length > 0,
      at: new Date(io.now()).toISOString(),
      memories: addresses.map(({ scope, namespace, key }) => ({
        scope,
        key,
        ...(namespace === 'default' ? {} : { namespace }),
      })),
      ...(missing.length > 0 ? { missing } : {}),
      ...(ofEchoes.length > 0 ? { echoes: ofEchoes } : {}),
      receipt: sha256(JSON.stringify(addresses)).slice(0, 16),
    }
    if (options.json) io.out(`${JSON.stringify(receipt)}\n`)
    else if (addresses.length === 0) io.out(nothingUnder(keys))
    else {
      const lines = addresses.map(
        ({ scope, namespace, key }) =>
          `${scope.padEnd(11)} ${printable(key)}${namespace === 'default' ? '' : ` (of ${printable(namespace)})`}`,
      )
      for (const line of firstFew(lines, 'memory', 'memories')) io.out(`${line}\n`)
      const n = count(addresses.length, 'memory', 'memories')
      io.out(
        options.yes
          ? `\n${n} forgotten at ${receipt.at}, receipt ${receipt.receipt}. Backups, exports and the agents' own transcripts still hold them.\n`
          : `\nRun the same with --yes to forget ${n}.\n`,
      )
      if (ofEchoes.length > 0) io.out(copiesOf(ofEchoes))
      for (const key of missing) io.err(`recall: nothing is kept under ${printable(key)}\n`)
    }
    return addresses.length > 0 && missing.length === 0 ? exitCodes.fine : exitCodes.no
  })
}

/** The keys under which nothing was found, and nothing of the sessions that they name. */
function keysWithNothing(keys: readonly string[], found: readonly Address[]): string[] {
  const named = new Set(found.map(({ key }) => key))
  const sessions = new Set(found.map(sessionKeptIn))
  return [...new Set(keys)].filter((key) => {
    const session = sessionOf({ key })
    return !named.has(key) && (session === undefined || !sessions.has(session))
  })
}

/** The reference of an echo, such as `reviewer/inscribed-003`, if the key is that of its copy. */
const echoIn = (key: string): string | undefined => /^echo:(?:[^/]+\/)?([^/]+\/[a-z]+-\d{3,})$/.exec(key)?.[1]

const copiesOf = (echoes: readonly string[]): string =>
  `What begins with echo: is a copy, which the next 'recall echoes' in its project makes anew. Take out there, with 'recall echoes remove <entry> --yes', ${printable(echoes.join(', '))}, then delete the archive folder of its role, which keeps what was taken out.\n`

/** Nothing is forgotten on a guess: who names the beginning of a key is told so. */
const nothingUnder = (keys: readonly string[]): string =>
  keys.length === 0
    ? 'Nothing to forget.\n'
    : "Nothing to forget. A key is named whole, as 'recall search --json' shows it.\n"

const distinct = (addresses: readonly Address[]): Address[] => [
  ...new Map(
    addresses.map(({ scope, namespace, key }) => [
      JSON.stringify([scope, namespace, key]),
      { scope, namespace, key },
    ]),
  ).values(),
]

const atOnce = 1000

/** Removes memories for good, and keeps imports from bringing them back. */
export async function remove(io: Io, store: FileStore, found: readonly Address[]): Promise<void> {
  const addresses = distinct(found)
  if (addresses.length === 0) {
    // An earlier call may have been interrupted when all that was left to do was to rebuild the index.
    if (store.hasTraces()) store.reindex({ full: true })
    return
  }
  const finish = store.beginErasure()
  // Tombstones come first: after a crash in between, memories are still there, but none comes back once removed.
  await addTombstones(defaultFileSystem, store, addresses, io.now())
  for (const namespace of new Set(addresses.map((each) => each.namespace))) {
    const memory = createMemoryManager({ stores: store, namespace, clock: io.now })
    for (const scope of memoryScopes) {
      const here = addresses.filter((each) => each.namespace === namespace && each.scope === scope)
      // Of sections with the same heading, remove later ones first: each removal renumbers those behind it.
      const keys = here.map(({ key }) => key).sort((a, b) => b.length - a.length || (a < b ? 1 : -1))
      for (let from = 0; from < keys.length; from += atOnce) {
        const deletes = keys.slice(from, from + atOnce).map((key) => ({ operation: 'delete' as const, key }))
        await memory.atomicUpdate(scope, deletes)
      }
    }
  }
  await liftTombstones(defaultFileSystem, store, addresses, io.now())
  finish()
}

/** Finds expired entries, too: they exist until the next clean-up, and have to be forgotten as well. */
const ever = { now: Number.NEGATIVE_INFINITY }

/** The entries under some keys, including archived ones. The key of a session stands for everything kept of it. */
export async function byKey(
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
 * The archives of sessions and of their helpers, their entries in the window, their summaries that a person changed, and
 * those of compactions.
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
  // One pass for all sessions: it reads whatever is archived.
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

const notLookedInto = (sealed: number): string =>
  `${count(sealed, 'memory is', 'memories are')} encrypted, and not looked into: forget such by their keys`

/**
 * The entries that contain a text, and for a session that contains it everything kept of the session; `sealed` counts
 * those that may contain it, because they are encrypted.
 */
async function byText(
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
 * Whether an entry contains a text in any part, also in its searchable text: a section's heading is not in its value.
 * What an encrypted value says nobody knows here, and its envelope is nothing that it says.
 */
const says = ({ key, type, tags, value, text: foundBy, encrypted }: Entry, text: string): boolean =>
  [key, type, tags, foundBy, ...(encrypted ? [] : [value])].some((part) => holds(part, text))

/** Looks into each string and number, never at the JSON between them. */
function holds(value: JsonValue, text: string): boolean {
  if (typeof value === 'string' || typeof value === 'number') return String(value).includes(text)
  if (Array.isArray(value)) return value.some((item) => holds(item, text))
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([name, member]) => name.includes(text) || holds(member, text))
}
