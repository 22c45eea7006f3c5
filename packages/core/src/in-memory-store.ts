import { alreadyExists, changedUnderneath } from './conflicts.ts'
import { entryMetadata } from './entry-metadata.ts'
import { matchesFilter } from './filter/matches-filter.ts'
import { byOrder } from './found-order.ts'
import { type Searchable, searchable, searchEntries } from './in-memory-search.ts'
import { equalJson, jsonBytes, toJsonValue } from './json.ts'
import type { Address, ColdStore, Entry, Expected, MemoryStore, Place, PutOptions } from './memory-store.ts'

export interface InMemoryStoreOptions {
  /** Where archived entries go. Default: another in-memory store. `null`: nothing is archived. */
  cold?: ColdStore | null
}

/** Keeps entries in this process's memory, for working memory, tests and small tasks. They end with the process. */
export function createInMemoryStore(options: InMemoryStoreOptions = {}): MemoryStore {
  const cold = options.cold === undefined ? createInMemoryStore({ cold: null }) : options.cold
  const places = new Map<string, Shelf>()
  let writes = 0

  const place = ({ namespace, scope }: Place): Shelf => {
    const name = JSON.stringify([namespace, scope])
    const known = places.get(name)
    if (known) return known
    const shelf = createShelf()
    places.set(name, shelf)
    return shelf
  }

  const live = (address: Address, now: number): Kept | undefined => {
    const kept = place(address).get(address.key)
    return kept && !isExpired(kept.entry, now) ? kept : undefined
  }

  const put = (entry: Entry, { overwrite, now }: PutOptions, expected?: Expected): void => {
    const existing = live(entry, now)
    if (existing && !overwrite) throw alreadyExists(entry)
    place(entry).set(entry.key, keep(existing ? succeed(entry, existing.entry, expected) : entry, ++writes))
  }

  return {
    name: 'memory',
    capabilities: { durable: false, semantic: true },
    ...(cold ? { cold } : {}),

    async put(entry, options) {
      put(entry, options)
    },

    async get(address, now) {
      const kept = live(address, now)
      return kept ? copyOf(kept.entry) : null
    },

    async find(query) {
      const candidates = [...place(query).values()].filter(
        ({ entry }) =>
          !isExpired(entry, query.now) &&
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
        if (entry.ttl !== null) entry.expiresAt = Math.max(entry.expiresAt ?? 0, now + entry.ttl)
      }
    },

    async remove(address) {
      return place(address).delete(address.key)
    },

    async removeAll(selection) {
      const entries = place(selection)
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
        const present = place(address).get(address.key)?.entry
        if (expected && !isAsExpected(present, expected)) throw changedUnderneath(address)
        if ('put' in change && !change.options.overwrite && live(address, change.options.now)) {
          throw alreadyExists(address)
        }
      }
      for (const change of changes) {
        if ('put' in change) put(change.put, { ...change.options, overwrite: true }, change.expected)
        else place(change.remove).delete(change.remove.key)
      }
    },

    async sweep({ now, dryRun, ...selection }) {
      const entries = place(selection)
      const expired = [...entries.values()].filter(({ entry }) => isExpired(entry, now))
      if (!dryRun) for (const { entry } of expired) entries.delete(entry.key)
      return expired.length
    },

    async stats(selection) {
      const { size, bytes } = place(selection)
      return { entries: size, bytes }
    },

    async stamp(address) {
      const kept = place(address).get(address.key)
      return kept ? String(kept.write) : null
    },

    async close() {
      places.clear()
      await cold?.close()
    },
  }
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
function succeed(entry: Entry, earlier: Entry, expected: Expected | undefined): Entry {
  const { createdAt, accessCount } = earlier
  if (expected) return { ...entry, createdAt, accessCount }
  const updatedAt = Math.max(entry.updatedAt, earlier.updatedAt + 1)
  return { ...entry, createdAt, accessCount, updatedAt, accessedAt: updatedAt }
}

const isAsExpected = (present: Entry | undefined, { updatedAt, value }: Expected): boolean =>
  present?.updatedAt === updatedAt && (value === undefined || equalJson(present.value, value))

const isExpired = (entry: Entry, now: number): boolean => entry.expiresAt !== null && entry.expiresAt <= now
