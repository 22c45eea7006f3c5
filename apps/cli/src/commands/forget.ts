import { createHash } from 'node:crypto'
import {
  type Address,
  conversationType,
  type MemoryManager,
  type MemoryScope,
  memoryScopes,
  searchableText,
  sessionSummaryKey,
  toJsonValue,
} from '@recall/core'
import { addTombstones, defaultFileSystem, type FileStore } from '@recall/store-file'
import { everyEntry, everyMemory } from '../every-entry.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { count } from '../format.ts'
import { compactionKey, compactionType } from '../host-sessions.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

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
    for (const memory of everyMemory(io, store)) {
      found.push(...(await byKey(memory, keys, scope)))
      if (containing) found.push(...(await byText(memory, containing, scope)))
    }
    const addresses = distinct(found)
    if (options.yes) await remove(io, store, addresses)
    const receipt = {
      forgotten: options.yes === true,
      at: new Date(io.now()).toISOString(),
      memories: addresses.map(({ scope, namespace, key }) => ({
        scope,
        key,
        ...(namespace === 'default' ? {} : { namespace }),
      })),
      receipt: createHash('sha256').update(JSON.stringify(addresses)).digest('hex').slice(0, 16),
    }
    if (options.json) io.out(`${JSON.stringify(receipt)}\n`)
    else if (addresses.length === 0) io.out('Nothing to forget.\n')
    else {
      for (const { scope, namespace, key } of addresses)
        io.out(`${scope.padEnd(11)} ${key}${namespace === 'default' ? '' : ` (of ${namespace})`}\n`)
      const n = count(addresses.length, 'memory', 'memories')
      io.out(
        options.yes
          ? `\n${n} forgotten at ${receipt.at}, receipt ${receipt.receipt}. Backups and exports still hold them.\n`
          : `\nRun the same with --yes to forget ${n}.\n`,
      )
    }
    return addresses.length > 0 ? exitCodes.fine : exitCodes.no
  })
}

const distinct = (addresses: readonly Address[]): Address[] => [
  ...new Map(
    addresses.map(({ scope, namespace, key }) => [
      JSON.stringify([scope, namespace, key]),
      { scope, namespace, key },
    ]),
  ).values(),
]

const atOnce = 1000

/** Removes memories for good, in a way that an import does not bring them back. */
export async function remove(io: Io, store: FileStore, found: readonly Address[]): Promise<void> {
  const addresses = distinct(found)
  if (addresses.length === 0) return
  // The tombstone comes first: a crash in between leaves something to forget again, not something to come back.
  addTombstones(defaultFileSystem, store, addresses, io.now())
  for (const memory of everyMemory(io, store)) {
    for (const scope of memoryScopes) {
      const here = addresses.filter((each) => each.namespace === memory.namespace && each.scope === scope)
      // Of sections with the same heading the later ones first: when one goes, those after it are numbered anew.
      const keys = here.map(({ key }) => key).sort((a, b) => b.length - a.length || (a < b ? 1 : -1))
      for (let from = 0; from < keys.length; from += atOnce) {
        const deletes = keys.slice(from, from + atOnce).map((key) => ({ operation: 'delete' as const, key }))
        await memory.atomicUpdate(scope, deletes)
      }
    }
  }
  // Pages that the database no longer uses still hold the words.
  store.index.rebuild()
}

/** What some keys name, also what is archived; with a session everything that was kept of it. */
export async function byKey(
  memory: MemoryManager,
  keys: readonly string[],
  scope?: MemoryScope,
): Promise<Address[]> {
  const { namespace } = memory
  const found: Address[] = []
  for (const key of keys) {
    for (const each of scope ? [scope] : memoryScopes) {
      if (await isKept(memory, each, key)) found.push({ scope: each, namespace, key })
    }
    const session = sessionOf(key)
    if (session !== undefined && !scope) found.push(...(await ofSession(memory, session)))
  }
  return found
}

const sessionOf = (key: string): string | undefined => /^conversation:(.+?)(?:#\d+)?$/.exec(key)?.[1]

async function isKept(memory: MemoryManager, scope: MemoryScope, key: string): Promise<boolean> {
  if (await memory.exists(scope, key)) return true
  const named = await memory.search(
    scope,
    { filters: { key } },
    { limit: 1000, touch: false, includeArchived: true },
  )
  return named.some((match) => match.key === key)
}

/** Its archives and those of its helpers, its entry in the window, and what its host said when it compacted it. */
async function ofSession(memory: MemoryManager, session: string): Promise<Address[]> {
  const { namespace } = memory
  const found: Address[] = []
  const inWindow = sessionSummaryKey(session)
  if (await memory.exists('short-term', inWindow))
    found.push({ scope: 'short-term', namespace, key: inWindow })
  const kinds = { type: { in: [conversationType, compactionType] } }
  for await (const { key } of everyEntry(memory, ['episodic'], kinds)) {
    if (belongsTo(session, sessionOf(key)) || key.startsWith(compactionKey(session, '')))
      found.push({ scope: 'episodic', namespace, key })
  }
  return found
}

const belongsTo = (session: string, other = ''): boolean =>
  other === session || other.startsWith(`${session}/`)

/** What contains a text; of a session that says it, everything. */
async function byText(memory: MemoryManager, text: string, scope?: MemoryScope): Promise<Address[]> {
  const { namespace } = memory
  const found: Address[] = []
  const sessions = new Set<string>()
  for await (const { key, value, metadata } of everyEntry(memory, scope ? [scope] : memoryScopes)) {
    if (!searchableText(toJsonValue(value)).includes(text)) continue
    found.push({ scope: metadata.scope, namespace, key })
    const session = metadata.scope === 'episodic' ? sessionOf(key) : undefined
    if (session !== undefined && !scope) sessions.add(session)
  }
  for (const session of sessions) found.push(...(await ofSession(memory, session)))
  return found
}
