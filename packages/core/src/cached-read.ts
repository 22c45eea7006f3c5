import type { Address, Entry, MemoryStore } from './memory-store.ts'

/** What a cache has to do; an `LRUCache` of lru-cache does it, and so does a `Map`. */
export interface MemoryCache {
  get(name: string): CachedEntry | undefined
  set(name: string, entry: CachedEntry): unknown
}

export interface CachedEntry {
  entry: Entry
  /** The store's stamp of the entry before it was read. */
  stamp: string
}

/**
 * An entry from the cache, if the store says that nobody has written it since, else from the store. Encrypted
 * entries are not cached, and neither are those of stores that give no stamps.
 */
export async function readCached(
  cache: MemoryCache | undefined,
  store: MemoryStore,
  address: Address,
  now: number,
): Promise<Entry | null> {
  // Before the read: what is written in between gets another stamp than the one that is kept.
  const stamp = cache && store.stamp ? await store.stamp(address) : null
  if (!cache || stamp === null) return store.get(address, now)
  const name = JSON.stringify([store.name, address.namespace, address.scope, address.key])
  const known = cache.get(name)
  if (known?.stamp === stamp && isAlive(known.entry, now)) return slid(known.entry, now)
  const entry = await store.get(address, now)
  if (entry && !entry.encrypted) cache.set(name, { entry: structuredClone(entry), stamp })
  return entry
}

/** A copy for the caller. That it was used moves its end, here as in the store. */
function slid(entry: Entry, now: number): Entry {
  if (entry.ttl !== null) entry.expiresAt = now + entry.ttl
  return { ...entry, value: structuredClone(entry.value) }
}

const isAlive = ({ expiresAt }: Entry, now: number): boolean => expiresAt === null || expiresAt > now
