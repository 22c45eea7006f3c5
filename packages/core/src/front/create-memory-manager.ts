import { type Clock, inMilliseconds, systemClock } from '../clock.ts'
import type { Embedder } from '../embedder.ts'
import { MemoryErrorCode } from '../errors.ts'
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
import type { Address, MemoryStore } from '../memory-store.ts'
import { parseInput } from '../parse-input.ts'
import type { RedactionReport, RedactPolicy } from '../redaction/redactor.ts'
import type { TypesOf, ValueSchemas } from '../schemas.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import { createCachedReads, type MemoryCache } from './cached-read.ts'
import { createCalls } from './calls.ts'
import { createSealer, type KeyRing } from './encryption.ts'
import { createEntryFactory } from './entry-factory.ts'
import {
  cleanupOptionsSchema,
  clearFilterSchema,
  managerOptionsSchema,
  memoryOptionsSchema,
  parseKey,
  parseScope,
} from './inputs.ts'
import { cleanUp } from './maintenance.ts'
import { createQuota, defaultQuotas } from './quotas.ts'
import { createReading } from './reading.ts'
import { hold, release } from './shared-use.ts'
import { byScope, storesByScope } from './stores-by-scope.ts'
import { removeWithArchived } from './with-archive.ts'
import { createWriting } from './writing.ts'

export interface MemoryManagerOptions<Schemas extends ValueSchemas = ValueSchemas> {
  /** One store for all scopes, or one for each. Closed with the last memory that uses it. */
  stores: MemoryStore | Record<MemoryScope, MemoryStore>
  /** Whose memory this is. Default `default`. */
  namespace?: string | undefined
  /**
   * Makes text findable by meaning, in stores that keep vectors. Closed with the last memory that uses it.
   */
  embedder?: Embedder | undefined
  /**
   * Value types by scope and key, checked at every write and read. A schema that changes values, for example by
   * defaults, must leave its own output unchanged.
   */
  schemas?: Schemas | undefined
  /**
   * What to do with secrets before anything is stored, indexed or embedded: replace them (`redact`, the
   * default), refuse the write (`reject`) or keep them (`allow`).
   */
  redact?: RedactPolicy | undefined
  /** Called with what was replaced in each write: kinds and counts, never the secret. Its errors are ignored. */
  onRedaction?: ((report: RedactionReport) => void) | undefined
  policies?: MemoryPolicies | undefined
  /**
   * The key for `encrypt: true`: one AES-256 key of 32 bytes, or a ring of named keys of which one is current.
   * A value whose key is lost can never be read again.
   */
  encryptionKey?: Uint8Array | KeyRing | undefined
  /** Caches entries of stores that have stamps; for example `createMemoryCache` of `@recall/core/protocol`. */
  cache?: MemoryCache | undefined
  /** Default: the system clock. Fractions of a millisecond are dropped. */
  clock?: Clock | undefined
}

export interface MemoryPolicies {
  /** Milliseconds an entry lives after its last access when `write` does not say. Default: short-term 1 hour. */
  defaultTtl?: Partial<Record<MemoryScope, number>> | undefined
  /**
   * Bytes that the values of a scope may take together, as compact JSON; `Infinity` for no limit. Default 10 MB,
   * 100 MB, 1 GB and 10 GB, from working to episodic. A full short-term memory evicts its least recently used
   * entries, down to 80 %; the other scopes refuse the write with QUOTA_EXCEEDED.
   */
  quotas?: Partial<Record<MemoryScope, number>> | undefined
}

/** Default TTL of short-term memory, milliseconds. */
export const shortTermTtl = 60 * 60 * 1000

/**
 * Checks the options of a memory before anything is opened for it.
 *
 * @throws MemoryError INVALID_INPUT as `createMemoryManager` does, and for `stores`
 */
export function checkMemoryOptions(options: Omit<MemoryManagerOptions, 'stores'>): void {
  parseInput(memoryOptionsSchema, options, 'options')
  if (options.encryptionKey) createSealer(options.encryptionKey)
}

/**
 * The front of every memory: validation, expiry instants, redaction and embedding, written once.
 *
 * @throws MemoryError INVALID_INPUT when an option is wrong
 */
export function createMemoryManager<Schemas extends ValueSchemas = Record<never, never>>(
  options: MemoryManagerOptions<Schemas>,
): MemoryManager<TypesOf<Schemas>> {
  parseInput(managerOptionsSchema, options, 'options')
  const { namespace = 'default', embedder, policies = {} } = options
  const clock = inMilliseconds(options.clock ?? systemClock)
  const schemas: ValueSchemas = options.schemas ?? {}
  const sealer = options.encryptionKey ? createSealer(options.encryptionKey) : undefined
  const givenStores = storesByScope(options.stores)
  const cached = options.cache && createCachedReads(options.cache)
  const stores = cached ? byScope((scope) => cached.counting(givenStores[scope])) : givenStores
  const quotas: Record<MemoryScope, number> = { ...defaultQuotas, ...policies.quotas }
  const reading = createReading({ schemas, embedder, sealer, cached, clock })
  const writing = createWriting({
    entries: createEntryFactory({
      schemas,
      redact: options.redact ?? 'redact',
      onRedaction: options.onRedaction,
      embedder,
      sealer,
      defaultTtl: { 'short-term': shortTermTtl, ...policies.defaultTtl },
    }),
    withinQuota: byScope((scope) =>
      createQuota({ store: stores[scope], place: { namespace, scope }, quota: quotas[scope], clock }),
    ),
    clock,
  })
  for (const used of new Set([...Object.values(givenStores), ...(embedder ? [embedder] : [])])) hold(used)
  const calls = createCalls()

  const calling = <T>(
    code: MemoryErrorCode,
    at: { scope: MemoryScope; key?: string },
    call: (store: MemoryStore) => Promise<T>,
  ): Promise<T> => calls.make(code, at, async () => call(stores[parseScope(at.scope)]))

  const addressOf = (scope: MemoryScope, key: string): Address => ({
    namespace,
    scope,
    key: parseKey(key),
  })

  const closeAll = async (): Promise<void> => {
    // A failure to close one must not keep the others open.
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
      return calling(MemoryErrorCode.WRITE_FAILED, { scope, key }, (store) =>
        writing.write(store, addressOf(scope, key), value, given),
      )
    },

    read: ((scope: MemoryScope, key: string, given?: ReadOptions): Promise<unknown> =>
      calling(MemoryErrorCode.SEARCH_FAILED, { scope, key }, (store) =>
        reading.read(store, addressOf(scope, key), given),
      )) as MemoryManager<ValueTypes>['read'],

    search<T>(scope: MemoryScope, query: SearchQuery, given: SearchOptions = {}): Promise<MemoryMatch<T>[]> {
      return calling(MemoryErrorCode.SEARCH_FAILED, { scope }, (store) =>
        reading.search<T>(store, { namespace, scope }, query, given),
      )
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
      return calling(MemoryErrorCode.WRITE_FAILED, { scope, key }, (store) =>
        writing.restore(store, addressOf(scope, key)),
      )
    },

    batchRead<T>(scope: MemoryScope, keys: readonly string[]): Promise<Map<string, T>> {
      return calling(MemoryErrorCode.SEARCH_FAILED, { scope }, (store) =>
        reading.readAll<T>(store, { namespace, scope }, keys),
      )
    },

    batchWrite(scope: MemoryScope, writes: readonly BatchWrite[]): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope }, (store) =>
        writing.writeAll(store, { namespace, scope }, writes),
      )
    },

    atomicUpdate(scope: MemoryScope, updates: readonly AtomicUpdate[]): Promise<void> {
      return calling(MemoryErrorCode.WRITE_FAILED, { scope }, (store) =>
        writing.update(store, { namespace, scope }, updates),
      )
    },

    close: () => calls.close(closeAll),

    [Symbol.asyncDispose]: () => manager.close(),
  }
  return manager as MemoryManager<TypesOf<Schemas>>
}
