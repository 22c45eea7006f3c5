import { type Clock, systemClock } from '../clock.ts'
import type { Embedder } from '../embedder.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type {
  AtomicUpdate,
  BatchWrite,
  CleanupOptions,
  CleanupResult,
  ClearFilter,
  MemoryManager,
  MemoryMatch,
  ReadOptions,
  SearchOptions,
  SearchQuery,
  ValueTypes,
  WriteOptions,
} from '../memory-manager.ts'
import type { Address, Change, Entry, MemoryStore, StoreQuery } from '../memory-store.ts'
import type { RedactionReport, RedactPolicy } from '../redaction/redactor.ts'
import type { TypesOf, ValueSchemas } from '../schemas.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import {
  commitWithArchived,
  type FoundAnywhere,
  findWithArchived,
  removeWithArchived,
} from '../stores/archive.ts'
import { entryMetadata } from '../stores/entry-metadata.ts'
import { slidExpiry } from '../stores/expiry.ts'
import { createCachedReads, type MemoryCache } from './cached-read.ts'
import { checkRead } from './check-values.ts'
import { createSealer, isEnvelope, type KeyRing, missingKey } from './encryption.ts'
import { createEntryFactory } from './entry-factory.ts'
import { failingAs } from './failing-as.ts'
import { findWhenSure } from './find-when-sure.ts'
import {
  batchSchema,
  cleanupOptionsSchema,
  clearFilterSchema,
  keysSchema,
  managerOptionsSchema,
  parseInput,
  parseKey,
  parseScope,
  readOptionsSchema,
  searchOptionsSchema,
  searchQuerySchema,
  updatesSchema,
} from './inputs.ts'
import { cleanUp } from './maintenance.ts'
import { createQuota, defaultQuotas } from './quotas.ts'
import { hold, release } from './shared-use.ts'
import { toStoreQuery } from './store-query.ts'
import { byScope, storesByScope } from './stores-by-scope.ts'

export interface MemoryManagerOptions<Schemas extends ValueSchemas = ValueSchemas> {
  /** One store for all scopes, or one for each. Closed with the last memory that uses it. */
  stores: MemoryStore | Record<MemoryScope, MemoryStore>
  /** Whose memory this is. Default `default`. */
  namespace?: string
  /**
   * Makes text findable by meaning, in stores that keep vectors. Closed with the last memory that uses it.
   */
  embedder?: Embedder
  /**
   * Value types by scope and key, checked at every write and read: a schema that changes values, by defaults for
   * example, must leave its own output as it is.
   */
  schemas?: Schemas
  /**
   * What to do with secrets before anything is stored, indexed or embedded: replace them (`redact`, the
   * default), refuse the write (`reject`) or keep them (`allow`).
   */
  redact?: RedactPolicy
  /** Called with what was replaced in each write: kinds and counts, never the secret. */
  onRedaction?: (report: RedactionReport) => void
  policies?: MemoryPolicies
  /**
   * The key for `encrypt: true`: one AES-256 key of 32 bytes, or a ring of named keys of which one is current.
   * A value whose key is lost can never be read again.
   */
  encryptionKey?: Uint8Array | KeyRing
  /** Caches entries of stores that have stamps; for example `createMemoryCache` of `@recall/core/protocol`. */
  cache?: MemoryCache
  clock?: Clock
}

export interface MemoryPolicies {
  /** Milliseconds an entry lives after its last access when `write` does not say. Default: short-term 1 hour. */
  defaultTtl?: Partial<Record<MemoryScope, number>>
  /**
   * Bytes that the values of a scope may take together, as compact JSON; `Infinity` for no limit. Default 10 MB,
   * 100 MB, 1 GB and 10 GB, from working to episodic. A full short-term memory evicts its least recently used
   * entries, down to 80 %; the other scopes refuse the write with QUOTA_EXCEEDED.
   */
  quotas?: Partial<Record<MemoryScope, number>>
}

/** Default TTL of short-term memory, milliseconds. */
export const shortTermTtl = 60 * 60 * 1000

/**
 * The front of every memory: validation, expiry instants, redaction and embedding, written once.
 *
 * @throws MemoryError INVALID_INPUT when an option is wrong
 */
export function createMemoryManager<Schemas extends ValueSchemas = Record<never, never>>(
  options: MemoryManagerOptions<Schemas>,
): MemoryManager<TypesOf<Schemas>> {
  parseInput(managerOptionsSchema, options, 'options')
  const { namespace = 'default', embedder, policies = {}, clock = systemClock } = options
  const schemas: ValueSchemas = options.schemas ?? {}
  const sealer = options.encryptionKey ? createSealer(options.encryptionKey) : undefined
  const toEntry = createEntryFactory({
    schemas,
    redact: options.redact ?? 'redact',
    onRedaction: options.onRedaction,
    embedder,
    sealer,
    defaultTtl: { 'short-term': shortTermTtl, ...policies.defaultTtl },
  })
  const givenStores = storesByScope(options.stores)
  const cached = options.cache && createCachedReads(options.cache)
  const stores = cached ? byScope((scope) => cached.counting(givenStores[scope])) : givenStores
  const quotas: Record<MemoryScope, number> = { ...defaultQuotas, ...policies.quotas }
  const withinQuota = byScope((scope) =>
    createQuota({ store: stores[scope], place: { namespace, scope }, quota: quotas[scope], clock }),
  )
  for (const used of new Set([...Object.values(givenStores), ...(embedder ? [embedder] : [])])) hold(used)
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  const storeOf = (scope: MemoryScope): MemoryStore => {
    if (closing !== undefined)
      throw new MemoryError('this memory is closed: open it again', MemoryErrorCode.CLOSED)
    return stores[parseScope(scope)]
  }

  /** Every call goes through here: a closed memory refuses it, and `close` waits for it. */
  const calling = async <T>(
    code: MemoryErrorCode,
    at: { scope: MemoryScope; key?: string },
    call: (store: MemoryStore) => Promise<T>,
  ): Promise<T> => {
    const store = storeOf(at.scope)
    const answer = failingAs(code, at, () => call(store))
    underWay.add(answer)
    try {
      return await answer
    } finally {
      underWay.delete(answer)
    }
  }

  const addressOf = (scope: MemoryScope, key: string): Address => ({
    namespace,
    scope,
    key: parseKey(key),
  })

  /** The plain value, decrypted if it is sealed. */
  const open = async (entry: Entry): Promise<JsonValue> => {
    const { value } = entry
    if (!isEnvelope(value)) return value
    if (!sealer) throw missingKey(value.kid, entry)
    return sealer.open(entry, value)
  }

  const toMatch = async <T>(match: FoundAnywhere, explain: boolean): Promise<MemoryMatch<T>> => {
    const { entry, score, confidence, mode, passage, passages, archived, signals } = match
    return {
      key: entry.key,
      value: checkRead(schemas, entry.scope, entry.key, await open(entry)) as T,
      score,
      ...(confidence === undefined ? {} : { confidence }),
      metadata: entryMetadata(entry),
      mode,
      ...(passage ? { passage } : {}),
      ...(passages ? { passages } : {}),
      ...(archived ? { archived } : {}),
      ...(explain ? { signals } : {}),
    }
  }

  const toChange = async (
    store: MemoryStore,
    scope: MemoryScope,
    update: AtomicUpdate,
    now: number,
  ): Promise<Change> => {
    const address = addressOf(scope, update.key)
    const seen = update.ifUpdatedAt
    const expected = seen === undefined ? {} : { expected: { updatedAt: seen } }
    if (update.operation === 'delete') return { remove: address, ...expected }
    // Always later than the version it replaces: of two such updates in one millisecond, the second is refused.
    const at = seen === undefined ? now : Math.max(now, seen + 1)
    const entry = await toEntry(store, address, update.value, update.options, at)
    return { put: entry, options: { overwrite: update.options?.overwrite ?? true, now }, ...expected }
  }

  const commit = async (
    store: MemoryStore,
    scope: MemoryScope,
    updates: readonly AtomicUpdate[],
  ): Promise<void> => {
    const now = clock()
    const keys = updates.map(({ key }) => key)
    if (new Set(keys).size < keys.length) {
      throw new MemoryError('a key may stand only once in a batch', MemoryErrorCode.INVALID_INPUT, { scope })
    }
    const changes: Change[] = []
    for (const update of updates) changes.push(await toChange(store, scope, update, now))
    const puts = changes.flatMap((change) => ('put' in change ? change.put : []))
    const removed = changes.flatMap((change) => ('put' in change ? [] : change.remove))
    await withinQuota[scope](puts, removed, () =>
      commitWithArchived(store, { namespace, scope }, changes, now),
    )
  }

  const read = (scope: MemoryScope, key: string, given?: ReadOptions): Promise<unknown> =>
    calling(MemoryErrorCode.SEARCH_FAILED, { scope, key }, async (store) => {
      const address = addressOf(scope, key)
      const { includeMetadata, decrypt, includeArchived } =
        given === undefined ? noOptions : parseInput(readOptionsSchema, given, 'options')
      if (includeArchived && !store.cold) throw noArchive(store, scope)
      const now = clock()
      const reads = includeMetadata || decrypt === false ? undefined : cached
      const known = (await reads?.read(store, address, now)) ?? null
      const kept = known ?? (await (reads ? reads.load(store, address, now) : store.get(address, now)))
      const entry = kept ?? (includeArchived ? await store.cold?.get(address, now) : null)
      if (!entry) return null
      const value = decrypt === false ? entry.value : checkRead(schemas, scope, key, await open(entry))
      if (kept && !known) await store.touch([address], now)
      if (!includeMetadata) return value
      return kept
        ? { value, metadata: entryMetadata(accessed(kept, now)) }
        : { value, metadata: entryMetadata(entry), archived: true }
    })

  const closeAll = async (): Promise<void> => {
    await Promise.allSettled(underWay)
    // One that cannot be closed must not keep the others open.
    const failures: unknown[] = []
    const closeStore = cached ? (store: MemoryStore) => store.close() : release
    const all = [...new Set(Object.values(stores))].map((store) => () => closeStore(store))
    for (const close of [...all, ...(embedder ? [() => release(embedder)] : [])]) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  const manager: MemoryManager<ValueTypes> = {
    namespace,
    capabilities: byScope((scope) => ({
      ...stores[scope].capabilities,
      archive: stores[scope].cold !== undefined,
    })),

    write(scope: MemoryScope, key: string, value: unknown, given?: WriteOptions): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope, key }, async (store) => {
        const now = clock()
        const entry = await toEntry(store, addressOf(scope, key), value, given, now)
        const putOptions = { overwrite: given?.overwrite ?? true, now }
        await withinQuota[scope]([entry], [], () => store.put(entry, putOptions))
      })
    },

    read: read as MemoryManager<ValueTypes>['read'],

    search<T>(scope: MemoryScope, query: SearchQuery, given: SearchOptions = {}): Promise<MemoryMatch<T>[]> {
      return calling(MemoryErrorCode.SEARCH_FAILED, { scope }, async (store) => {
        const asked = parseInput(searchQuerySchema, query, 'query')
        const wanted = parseInput(searchOptionsSchema, given, 'options')
        if (wanted.includeArchived && !store.cold) throw noArchive(store, scope)
        const now = clock()
        const storeQuery = await toStoreQuery(store, { namespace, scope }, asked, wanted, { embedder, now })
        const find = async (part: StoreQuery): Promise<FoundAnywhere[]> =>
          wanted.includeArchived && store.cold ? findWithArchived(store, store.cold, part) : store.find(part)
        const found = await findWhenSure(find, storeQuery, wanted.minConfidence ?? 0)
        const isTouched = ({ archived }: FoundAnywhere): boolean => wanted.touch !== false && !archived
        const matches = await Promise.all(
          found.map((match) => {
            const entry = isTouched(match) ? accessed(match.entry, now) : match.entry
            return toMatch<T>({ ...match, entry }, wanted.explain ?? false)
          }),
        )
        const touched = found.filter(isTouched).map(({ entry }) => entry)
        if (touched.length > 0) await store.touch(touched, now)
        return matches
      })
    },

    clear(scope: MemoryScope, filter: ClearFilter = {}): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope }, (store) => {
        const { olderThan, tags, type } = parseInput(clearFilterSchema, filter, 'filter')
        const selection = {
          namespace,
          scope,
          ...(olderThan === undefined ? {} : { updatedBefore: olderThan }),
          ...(tags === undefined ? {} : { tags }),
          ...(type === undefined ? {} : { type }),
        }
        return removeWithArchived(store, selection, (from) => from.removeAll(selection))
      })
    },

    delete(scope: MemoryScope, key: string): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope, key }, (store) => {
        const address = addressOf(scope, key)
        return removeWithArchived(store, address, (from) => from.remove(address))
      })
    },

    exists(scope: MemoryScope, key: string): Promise<boolean> {
      return calling(
        MemoryErrorCode.SEARCH_FAILED,
        { scope, key },
        async (store) => (await store.get(addressOf(scope, key), clock())) !== null,
      )
    },

    async cleanup(given: CleanupOptions = {}): Promise<CleanupResult> {
      const {
        scope,
        dryRun = false,
        threshold = 0,
        archiveBefore,
      } = parseInput(cleanupOptionsSchema, given, 'options')
      const scopes: readonly MemoryScope[] = scope ? [scope] : memoryScopes
      return calling(MemoryErrorCode.WRITE_FAILED, { scope: scopes[0] as MemoryScope }, async () => {
        const now = clock()
        const run = { scopes, stores, namespace, quotas, archiveBefore, now, dryRun, threshold }
        const result = await cleanUp(run)
        return { ...result, duration: clock() - now }
      })
    },

    restore(scope: MemoryScope, key: string): Promise<boolean> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope, key }, async (store) => {
        const address = addressOf(scope, key)
        const { cold } = store
        const entry = await cold?.get(address, clock())
        if (!cold || !entry) return false
        return withinQuota[scope]([entry], [], () => cold.restore(address, clock()))
      })
    },

    batchRead<T>(scope: MemoryScope, keys: readonly string[]): Promise<Map<string, T>> {
      return calling(MemoryErrorCode.SEARCH_FAILED, { scope }, async (store) => {
        const wanted = [...new Set(parseInput(keysSchema, keys, 'keys'))]
        const now = clock()
        const found = new Map<string, T>()
        const accesses: Address[] = []
        for (let at = 0; at < wanted.length; at += readsAtOnce) {
          const addresses = wanted.slice(at, at + readsAtOnce).map((key) => ({ namespace, scope, key }))
          const entries = await Promise.all(addresses.map((address) => store.get(address, now)))
          for (const [i, entry] of entries.entries()) {
            if (!entry) continue
            const { key } = addresses[i] as Address
            found.set(key, checkRead(schemas, scope, key, await open(entry)) as T)
            accesses.push({ namespace, scope, key })
          }
        }
        if (accesses.length > 0) await store.touch(accesses, now)
        return found
      })
    },

    batchWrite(scope: MemoryScope, writes: readonly BatchWrite[]): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope }, (store) => {
        const given = parseInput(batchSchema, writes, 'writes') as BatchWrite[]
        return commit(
          store,
          scope,
          given.map((write) => ({ ...write, operation: 'set' })),
        )
      })
    },

    atomicUpdate(scope: MemoryScope, updates: readonly AtomicUpdate[]): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope }, (store) =>
        commit(store, scope, parseInput(updatesSchema, updates, 'updates') as AtomicUpdate[]),
      )
    },

    close(): Promise<void> {
      // Whoever closes again waits as well, but the failure has been told.
      if (closing !== undefined) return closing.catch(() => undefined)
      closing = closeAll()
      return closing
    },

    [Symbol.asyncDispose]: () => manager.close(),
  }
  return manager as MemoryManager<TypesOf<Schemas>>
}

const noOptions: ReadOptions = {}

/** Concurrent reads of one batch. */
const readsAtOnce = 64

/** The entry with the present access already counted. */
const accessed = (entry: Entry, now: number): Entry => ({
  ...entry,
  accessedAt: Math.max(entry.accessedAt, now),
  accessCount: entry.accessCount + 1,
  expiresAt: slidExpiry(entry, now),
})

const noArchive = (store: MemoryStore, scope: MemoryScope): MemoryError =>
  new MemoryError(
    `the ${store.name} store has no archive: ask without includeArchived`,
    MemoryErrorCode.NOT_SUPPORTED,
    { scope },
  )
