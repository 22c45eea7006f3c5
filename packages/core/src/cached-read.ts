import { toJsonValue } from './json.ts'
import type { Address, Entry, MemoryStore } from './memory-store.ts'
import type { MemoryScope } from './scope.ts'

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

/** Accesses that were answered from the cache are counted in the store after this time, milliseconds. */
const countedAfterMs = 1000

export interface CachedReads {
  /** `null` when the cache cannot answer and the store must. */
  read(store: MemoryStore, address: Address, now: number): Promise<Entry | null>
  /** Reads from the store and keeps what it gives. The caller counts the access. */
  load(store: MemoryStore, address: Address, now: number): Promise<Entry | null>
  /** The store, which counts what was answered from the cache before every call that could show or change it. */
  counting(store: MemoryStore): MemoryStore
}

/**
 * Answers entries from a cache when the store's stamp says that nobody has written them since. Encrypted entries
 * are not cached, and neither are those of stores that give no stamps. Counting an access can cost more than the
 * read: it is put off, except where it moves the end of an entry's life.
 */
export function createCachedReads(cache: MemoryCache): CachedReads {
  const counted = new Map<MemoryStore, MemoryStore>()
  /** What counts for each store that counts. */
  const counters = new Map<MemoryStore, Counter>()
  /** The store as it was given. */
  const given = (store: MemoryStore): MemoryStore => counters.get(store)?.store ?? store

  return {
    async read(store, address, now) {
      const known = cache.get(nameOf(given(store), address))
      if (!known || !store.stamp || !isAlive(known.entry, now)) return null
      if ((await store.stamp(address)) !== known.stamp) return null
      const { entry } = known
      const counter = counters.get(store)
      if (entry.ttl === null && counter) counter.add(address, now)
      else {
        if (entry.ttl !== null) entry.expiresAt = now + entry.ttl
        await store.touch([address], now)
      }
      return { ...entry, value: toJsonValue(entry.value) }
    },

    async load(store, address, now) {
      // Before the read: what is written in between gets another stamp than the one that is kept.
      const stamp = store.stamp ? await store.stamp(address) : null
      const entry = await store.get(address, now)
      if (entry && stamp !== null && !entry.encrypted) {
        cache.set(nameOf(given(store), address), {
          entry: { ...entry, value: toJsonValue(entry.value) },
          stamp,
        })
      }
      return entry
    },

    counting(store) {
      const known = counted.get(store)
      if (known) return known
      const counter = createCounter(store)
      const after =
        <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
        async (...given: Given): Promise<Answer> => {
          await counter.flush()
          return call(...given)
        }
      const calls = Object.fromEntries(countingCalls.map((name) => [name, after(store[name] as AnyCall)]))
      const wrapped: MemoryStore = {
        ...store,
        ...calls,
        async close() {
          // A store that cannot count any more has to be closed all the same.
          try {
            await counter.flush()
          } finally {
            await store.close()
          }
        },
      }
      counted.set(store, wrapped)
      counters.set(wrapped, counter)
      return wrapped
    },
  }
}

type AnyCall = (...given: unknown[]) => Promise<unknown>

/** All but the stamp, and `close`. */
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

type Counter = ReturnType<typeof createCounter>

/** Accesses that a store has not been told of yet. */
function createCounter(store: MemoryStore) {
  /** By scope: a store is told of one place at a time, and all of them are of one namespace. */
  const waiting = new Map<MemoryScope, Address[]>()
  let last = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Counting that is under way. */
  let counting: Promise<void> | undefined

  const countAll = async (): Promise<void> => {
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

  /** Also waits for what is being counted already: nobody may look, or close the store, in between. */
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    while (counting !== undefined) await counting.catch(() => undefined)
    if (waiting.size === 0) return
    counting = countAll().finally(() => {
      counting = undefined
    })
    await counting
  }

  return {
    store,
    flush,

    add(address: Address, now: number): void {
      const addresses = waiting.get(address.scope) ?? []
      waiting.set(address.scope, addresses)
      addresses.push(address)
      last = now
      timer ??= setTimeout(() => {
        // What fails stays, and fails the next call.
        flush().catch(() => undefined)
      }, countedAfterMs)
      if (typeof timer === 'object') timer.unref()
    },
  }
}

/** Neither a namespace nor a key holds a control character. */
const nameOf = (store: MemoryStore, { namespace, scope, key }: Address): string =>
  `${numberOf(store)}\u0000${namespace}\u0000${scope}\u0000${key}`

/** Memories may share a cache: two stores of one name hold different things, and may stamp them alike. */
const numbers = new WeakMap<MemoryStore, number>()
let lastNumber = 0

function numberOf(store: MemoryStore): number {
  const number = numbers.get(store) ?? ++lastNumber
  numbers.set(store, number)
  return number
}

const isAlive = ({ expiresAt }: Entry, now: number): boolean => expiresAt === null || expiresAt > now
