import {
  type Address,
  type Change,
  createInMemoryStore,
  type Entry,
  type MemoryStore,
  type Place,
} from '@recall/core'
import { equalJson, jsonBytes } from '@recall/core/json'
import { alreadyExists, changedUnderneath } from '@recall/core/stores'

/** Anything that keeps texts under names. It answers at once, so nobody writes between a check and the change. */
export type Texts = Pick<Map<string, string>, 'get' | 'set' | 'delete' | 'keys'>

export function createTextStore(texts: Texts): MemoryStore {
  const nameOf = ({ namespace, scope, key }: Address) => JSON.stringify([namespace, scope, key])
  const isLive = ({ expiresAt }: Entry, now: number) => expiresAt === null || expiresAt > now
  const keep = (entry: Entry) => void texts.set(nameOf(entry), JSON.stringify(entry))

  const kept = (address: Address): Entry | null => {
    const text = texts.get(nameOf(address))
    return text === undefined ? null : JSON.parse(text)
  }

  const live = (address: Address, now: number): Entry | null => {
    const entry = kept(address)
    return entry && isLive(entry, now) ? entry : null
  }

  const all = ({ namespace, scope }: Place): Entry[] => {
    const beginning = JSON.stringify([namespace, scope, '']).slice(0, -2)
    const names = [...texts.keys()].filter((name) => name.startsWith(beginning))
    return names.map((name) => JSON.parse(texts.get(name) as string))
  }

  const removeThose = (entries: Entry[]): number => {
    for (const entry of entries) texts.delete(nameOf(entry))
    return entries.length
  }

  const check = ({ expected, ...change }: Change): void => {
    const address = 'put' in change ? change.put : change.remove
    const entry = kept(address)
    if (expected && entry?.updatedAt !== expected.updatedAt) throw changedUnderneath(address)
    if (expected?.value !== undefined && !equalJson(entry?.value ?? null, expected.value))
      throw changedUnderneath(address)
    if ('put' in change && !change.options.overwrite && live(address, change.options.now))
      throw alreadyExists(address)
  }

  const apply = ({ expected, ...change }: Change): void => {
    if ('remove' in change) {
      texts.delete(nameOf(change.remove))
      return
    }
    const entry = { ...change.put }
    const earlier = live(entry, change.options.now)
    if (earlier) {
      entry.createdAt = earlier.createdAt
      entry.accessCount = earlier.accessCount
      if (!expected) entry.updatedAt = Math.max(entry.updatedAt, earlier.updatedAt + 1)
    }
    keep(entry)
  }

  const store: MemoryStore = {
    name: 'texts',
    capabilities: { durable: true, semantic: true },

    async commit(changes) {
      for (const change of changes) check(change)
      for (const change of changes) apply(change)
    },

    put: (entry, options) => store.commit([{ put: entry, options }]),
    get: async (address, now) => live(address, now),
    remove: async (address) => texts.delete(nameOf(address)),

    async find(query) {
      // Words, vectors, filters and order are those of core: another store, filled for this one search.
      const engine = createInMemoryStore()
      const { now } = query
      await engine.commit(all(query).map((put) => ({ put, options: { overwrite: true, now } })))
      return engine.find(query)
    },

    async touch(addresses, now) {
      for (const address of addresses) {
        const entry = live(address, now)
        if (!entry) continue
        entry.accessCount++
        entry.accessedAt = Math.max(entry.accessedAt, now)
        if (entry.ttl !== null) entry.expiresAt = Math.max(entry.expiresAt ?? 0, now + entry.ttl)
        keep(entry)
      }
    },

    async removeAll({ updatedBefore = Number.POSITIVE_INFINITY, tags = [], type, ...place }) {
      const matching = all(place).filter(
        (entry) =>
          entry.updatedAt < updatedBefore &&
          tags.every((tag) => entry.tags.includes(tag)) &&
          (type === undefined || entry.type === type),
      )
      return removeThose(matching)
    },

    async sweep({ now, dryRun, ...place }) {
      const expired = all(place).filter((entry) => !isLive(entry, now))
      return dryRun ? expired.length : removeThose(expired)
    },

    async stats(place) {
      const entries = all(place)
      return {
        entries: entries.length,
        bytes: entries.reduce((sum, { value }) => sum + jsonBytes(value), 0),
      }
    },

    async close() {},
  }
  return store
}
