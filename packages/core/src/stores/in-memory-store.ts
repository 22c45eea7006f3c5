import { matchesFilter } from '../filter/matches-filter.ts'
import { equalJson, jsonBytes, toJsonValue } from '../json.ts'
import type { Address, Entry, Expected, MemoryStore, Place, PutOptions } from '../memory-store.ts'
import { refuseUnknownOptions } from '../parse-input.ts'
import { alreadyExists, changedUnderneath, writtenSinceArchived } from './conflicts.ts'
import { entryMetadata } from './entry-metadata.ts'
import { isExpired, slidExpiry } from './expiry.ts'
import { byOrder } from './found-order.ts'
import { checkVectors, type Searchable, searchable, searchEntries } from './in-memory-search.ts'
import { asRestored } from './restored.ts'

export interface InMemoryStoreOptions {
  /** Whether old episodes can be archived. Default true. */
  archive?: boolean | undefined
}

/**
 * Keeps entries in this process's memory, for working memory, tests and small tasks. They end with the process.
 *
 * @throws MemoryError INVALID_INPUT for an unknown option
 */
export function createInMemoryStore({ archive = true, ...others }: InMemoryStoreOptions = {}): MemoryStore {
  refuseUnknownOptions(others)
  const current = createShelves(false)
  const store = { name: 'memory', capabilities: { durable: false, semantic: true }, ...current.calls }
  if (!archive) return store
  const archived = createShelves(true)
  return {
    ...store,

    cold: {
      name: 'memory archive',
      ...archived.calls,

      async archive({ before, now, dryRun, limit, ...place }) {
        const shelf = current.shelf(place)
        const old = [...shelf.values()]
          .filter(({ entry }) => entry.updatedAt < before && !isExpired(entry, now))
          .slice(0, limit)
        if (!dryRun) for (const kept of old) move(kept, shelf, archived.shelf(place))
        return { archived: old.length, errors: [] }
      },

      async restore(address, now) {
        const copy = archived.live(address, now)
        if (!copy) return false
        const present = current.live(address, now)
        if (present && !equalJson(present.entry.value, copy.entry.value)) throw writtenSinceArchived(address)
        if (!present) current.put(asRestored(copy.entry, now), { overwrite: true, now })
        archived.shelf(address).delete(address.key)
        return true
      },
    },

    async close() {
      await store.close()
      await archived.calls.close()
    },
  }
}

function move(kept: Kept, from: Shelf, to: Shelf): void {
  to.set(kept.entry.key, kept)
  from.delete(kept.entry.key)
}

/** The entries of all places, current or archived ones. */
function createShelves(isArchive: boolean) {
  const places = new Map<string, Shelf>()
  let writes = 0

  const shelf = ({ namespace, scope }: Place): Shelf => {
    const name = JSON.stringify([namespace, scope])
    const known = places.get(name)
    if (known) return known
    const made = createShelf()
    places.set(name, made)
    return made
  }

  const live = (address: Address, now: number): Kept | undefined => {
    const kept = shelf(address).get(address.key)
    return kept && !isExpired(kept.entry, now) ? kept : undefined
  }

  const put = (entry: Entry, { overwrite, now }: PutOptions, expected?: Expected): void => {
    const existing = live(entry, now)
    if (existing && !overwrite) throw alreadyExists(entry)
    // An archive keeps entries as they are.
    const made = existing && !isArchive ? asSuccessor(entry, existing.entry, expected) : entry
    shelf(entry).set(entry.key, keep(made, ++writes))
  }

  const calls = {
    async put(entry, options) {
      put(entry, options)
    },

    async get(address, now) {
      const kept = live(address, now)
      return kept ? copyOf(kept.entry) : null
    },

    async find(query) {
      const living = [...shelf(query).values()].filter(({ entry }) => !isExpired(entry, query.now))
      if (query.embedding)
        checkVectors(
          living.map(({ entry }) => entry),
          query.embedding,
        )
      const candidates = living.filter(
        ({ entry }) =>
          (query.tags ?? []).every((tag) => entry.tags.includes(tag)) &&
          (!query.filter ||
            matchesFilter(query.filter, { value: entry.value, metadata: { ...entryMetadata(entry) } })),
      )
      const found = searchEntries(candidates, query).filter((match) => match.score >= query.minScore)
      found.sort(byOrder(query))
      return found
        .slice(query.offset, query.offset + query.limit)
        .map((match) => ({ ...match, entry: copyOf(match.entry) }))
    },

    async touch(addresses, now) {
      for (const address of addresses) {
        const kept = live(address, now)
        if (!kept) continue
        const { entry } = kept
        entry.accessedAt = Math.max(entry.accessedAt, now)
        entry.accessCount++
        entry.expiresAt = slidExpiry(entry, now)
      }
    },

    async remove(address) {
      return shelf(address).delete(address.key)
    },

    async removeAll(selection) {
      const entries = shelf(selection)
      let removed = 0
      for (const [key, { entry }] of entries.entries()) {
        if (selection.updatedBefore !== undefined && entry.updatedAt >= selection.updatedBefore) continue
        if (selection.type !== undefined && entry.type !== selection.type) continue
        if (!(selection.tags ?? []).every((tag) => entry.tags.includes(tag))) continue
        entries.delete(key)
        removed++
      }
      return removed
    },

    async commit(changes) {
      for (const { expected, ...change } of changes) {
        const address = 'put' in change ? change.put : change.remove
        const present = shelf(address).get(address.key)?.entry
        if (expected && !isAsExpected(present, expected)) throw changedUnderneath(address)
        if ('put' in change && !change.options.overwrite && live(address, change.options.now)) {
          throw alreadyExists(address)
        }
      }
      for (const change of changes) {
        if ('put' in change) put(change.put, { ...change.options, overwrite: true }, change.expected)
        else shelf(change.remove).delete(change.remove.key)
      }
    },

    async sweep({ now, dryRun, ...selection }) {
      const entries = shelf(selection)
      const expired = [...entries.values()].filter(({ entry }) => isExpired(entry, now))
      if (!dryRun) for (const { entry } of expired) entries.delete(entry.key)
      return expired.length
    },

    async stats(selection) {
      const { size, bytes } = shelf(selection)
      return { entries: size, bytes }
    },

    async stamp(address) {
      const kept = shelf(address).get(address.key)
      return kept ? String(kept.write) : null
    },

    async close() {
      places.clear()
    },
  } satisfies Omit<MemoryStore, 'name' | 'capabilities'>

  return { calls, shelf, live, put }
}

interface Kept extends Searchable {
  bytes: number
  /** Number of the write that made it, counted across the store: the entry's stamp. */
  write: number
}

/** A copy, so that callers never share stored objects. `toJsonValue` is several times faster than `structuredClone`. */
const copyOf = (entry: Entry): Entry => ({
  ...entry,
  value: toJsonValue(entry.value),
  tags: [...entry.tags],
  embedding: entry.embedding && structuredClone(entry.embedding),
})

const keep = (entry: Entry, write: number): Kept => ({
  ...searchable(copyOf(entry)),
  bytes: jsonBytes(entry.value),
  write,
})

/** The entries of one place, with a running total of their bytes. */
interface Shelf extends Pick<Map<string, Kept>, 'get' | 'values' | 'entries' | 'delete' | 'size'> {
  readonly bytes: number
  set(key: string, kept: Kept): void
}

function createShelf(): Shelf {
  const entries = new Map<string, Kept>()
  let bytes = 0
  return {
    get: (key) => entries.get(key),
    values: () => entries.values(),
    entries: () => entries.entries(),
    get size() {
      return entries.size
    },
    get bytes() {
      return bytes
    },
    set(key, kept) {
      bytes += kept.bytes - (entries.get(key)?.bytes ?? 0)
      entries.set(key, kept)
    },
    delete(key) {
      bytes -= entries.get(key)?.bytes ?? 0
      return entries.delete(key)
    },
  }
}

/** A rewritten entry keeps its creation time and its access count. Its version differs from the one it replaces. */
function asSuccessor(entry: Entry, earlier: Entry, expected: Expected | undefined): Entry {
  const { createdAt, accessCount } = earlier
  if (expected) return { ...entry, createdAt, accessCount }
  const updatedAt = Math.max(entry.updatedAt, earlier.updatedAt + 1)
  return { ...entry, createdAt, accessCount, updatedAt, accessedAt: updatedAt }
}

const isAsExpected = (present: Entry | undefined, { updatedAt, value }: Expected): boolean =>
  present?.updatedAt === updatedAt && (value === undefined || equalJson(present.value, value))
