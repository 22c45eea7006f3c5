import { toJsonValue } from '../json.ts'
import type { Address, Entry, MemoryStore } from '../memory-store.ts'
import type { MemoryScope } from '../scope.ts'
import { isExpired, slidExpiry } from '../stores/expiry.ts'
import { release } from './shared-use.ts'

/** The cache to read through: an `LRUCache` of lru-cache fits, and so does a `Map`. */
export interface MemoryCache {
  get(name: string): CachedEntry | undefined
  set(name: string, entry: CachedEntry): unknown
}

export interface CachedEntry {
  /** Only what a cached read needs: texts and vectors take many times the room. */
  entry: Pick<Entry, 'value' | 'ttl' | 'expiresAt'>
  /** The store's stamp of the entry before it was read. */
  stamp: string
}

/** Milliseconds after which accesses answered from the cache are recorded in the store. */
const countedAfterMs = 1000

/** With this many pending accesses in a scope, a read waits until they are recorded. */
const mostPending = 10_000

/** A value and the address where it is kept. */
export type ValueAt = Address & Pick<Entry, 'value'>

export interface CachedReads {
  /** `null` when the cache cannot answer and the store must. */
  read(store: MemoryStore, address: Address, now: number): Promise<ValueAt | null>
  /** Reads from the store and caches the entry. The caller records the access. */
  load(store: MemoryStore, address: Address, now: number): Promise<Entry | null>
  /**
   * Wraps a store so that pending accesses are recorded before every call that could show or change them. If recording
   * fails, calls whose answer depends on accesses fail too; other calls go on, and the accesses stay pending.
   */
  counting(store: MemoryStore): MemoryStore
}

/**
 * Answers reads from a cache while the store's stamp of the entry is unchanged. Encrypted entries and entries of
 * stores without stamps are not cached. Recording an access can cost more than the read, so it is deferred, except
 * for an entry with a TTL, whose expiry it moves.
 */
export function createCachedReads(cache: MemoryCache): CachedReads {
  const wrappers = new Map<MemoryStore, MemoryStore>()
  /** The counter of each wrapper. */
  const counters = new Map<MemoryStore, Counter>()
  const storeBehind = (wrapper: MemoryStore): MemoryStore => counters.get(wrapper)?.store ?? wrapper

  return {
    async read(store, address, now) {
      const known = cache.get(nameOf(storeBehind(store), address))
      if (!known || !store.stamp || isExpired(known.entry, now)) return null
      if ((await store.stamp(address)) !== known.stamp) return null
      const { entry } = known
      const counter = counters.get(store)
      if (entry.ttl === null && counter) {
        if (counter.isFull(address.scope)) await counter.flush()
        counter.add(address, now)
      } else {
        await store.touch([address], now)
        // Only after `touch`: if the access was not recorded, the entry expires earlier in the store.
        entry.expiresAt = slidExpiry(entry, now)
      }
      return { ...address, value: toJsonValue(entry.value) }
    },

    async load(store, address, now) {
      // Taken before the read: a write in between changes the stamp, so an outdated entry is never answered.
      const stamp = store.stamp ? await store.stamp(address) : null
      const entry = await store.get(address, now)
      if (entry && stamp !== null && !entry.encrypted) {
        const { ttl, expiresAt } = entry
        const kept = { value: toJsonValue(entry.value), ttl, expiresAt }
        cache.set(nameOf(storeBehind(store), address), { entry: kept, stamp })
      }
      return entry
    },

    counting(store) {
      const known = wrappers.get(store)
      if (known) return known
      const counter = createCounter(store)
      const afterFlush =
        (name: (typeof countingCalls)[number]) =>
        async (...given: unknown[]): Promise<unknown> => {
          await counter.flush().catch((error) => {
            if (dependsOnAccesses.has(name)) throw error
          })
          return Reflect.apply(store[name] as AnyCall, store, given)
        }
      const { name, capabilities, cold } = store
      // Member by member: a store may be an instance of a class, whose methods are not own properties.
      const wrapper = {
        name,
        capabilities,
        ...(cold ? { cold } : {}),
        ...(store.stamp ? { stamp: (address: Address) => store.stamp?.(address) } : {}),
        ...Object.fromEntries(countingCalls.map((call) => [call, afterFlush(call)])),
        async close() {
          // A failure to record the accesses must not keep the store open.
          try {
            await counter.flush()
          } finally {
            await release(store)
          }
        },
      } as MemoryStore
      wrappers.set(store, wrapper)
      counters.set(wrapper, counter)
      return wrapper
    },
  }
}

type AnyCall = (...given: unknown[]) => Promise<unknown>

/** All calls except `stamp` and `close`; `close` has its own wrapper. */
const countingCalls = [
  'put',
  'get',
  'find',
  'touch',
  'remove',
  'removeAll',
  'commit',
  'sweep',
  'stats',
] as const satisfies readonly (keyof MemoryStore)[]

/** Accesses decide the order of `find` and what `sweep` removes. */
const dependsOnAccesses: ReadonlySet<keyof MemoryStore> = new Set(['find', 'sweep'])

type Counter = ReturnType<typeof createCounter>

/** Collects accesses that the store has not recorded yet. */
function createCounter(store: MemoryStore) {
  /** By scope, because `touch` takes addresses of one place; the namespace is always the same. */
  const waiting = new Map<MemoryScope, Address[]>()
  let last = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** The recording under way, if any. */
  let recording: Promise<void> | undefined

  const recordAll = async (): Promise<void> => {
    for (const [scope, addresses] of [...waiting]) {
      waiting.delete(scope)
      try {
        await store.touch(addresses, last)
      } catch (error) {
        waiting.set(scope, [...addresses, ...(waiting.get(scope) ?? [])])
        throw error
      }
    }
  }

  /** Also waits for a recording under way: the next call must see every access, and `close` must not interrupt it. */
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    while (recording !== undefined) await recording.catch(() => undefined)
    if (waiting.size === 0) return
    recording = recordAll().finally(() => {
      recording = undefined
    })
    await recording
  }

  return {
    store,
    flush,
    isFull: (scope: MemoryScope): boolean => (waiting.get(scope)?.length ?? 0) >= mostPending,

    add(address: Address, now: number): void {
      const addresses = waiting.get(address.scope) ?? []
      waiting.set(address.scope, addresses)
      addresses.push(address)
      last = Math.max(last, now)
      timer ??= setTimeout(() => {
        // Accesses that could not be recorded keep waiting, and the next search reports the error.
        flush().catch(() => undefined)
      }, countedAfterMs)
      if (typeof timer === 'object') timer.unref()
    },
  }
}

/** Namespaces and keys hold no control characters, so NUL separates the parts unambiguously. */
const nameOf = (store: MemoryStore, { namespace, scope, key }: Address): string =>
  `${numberOf(store)}\u0000${namespace}\u0000${scope}\u0000${key}`

/** Tells stores apart in a shared cache: two of them may give equal stamps to different entries at one address. */
const numbers = new WeakMap<MemoryStore, number>()
let lastNumber = 0

function numberOf(store: MemoryStore): number {
  const number = numbers.get(store) ?? ++lastNumber
  numbers.set(store, number)
  return number
}
