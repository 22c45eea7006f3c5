import { type Clock, systemClock } from './clock.ts'
import type { Embedder } from './embedder.ts'
import { entryMetadata } from './entry-metadata.ts'
import { isMemoryError, MemoryError, MemoryErrorCode } from './errors.ts'
import { parseFilter } from './filter/parse-filter.ts'
import {
  batchSchema,
  cleanupOptionsSchema,
  clearFilterSchema,
  keySchema,
  keysSchema,
  parseInput,
  readOptionsSchema,
  scopeSchema,
  searchOptionsSchema,
  searchQuerySchema,
  updatesSchema,
  writeOptionsSchema,
} from './inputs.ts'
import { isJsonObject, type JsonValue, searchableText, toJsonValue } from './json.ts'
import type {
  AtomicUpdate,
  BatchWrite,
  Capabilities,
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
} from './memory-manager.ts'
import type { Address, Change, Entry, Found, MemoryStore } from './memory-store.ts'
import { createRedactor, type RedactionReport, type RedactPolicy } from './redaction/redactor.ts'
import { checkRead, checkWritten, type TypesOf, type ValueSchemas } from './schemas.ts'
import { type MemoryScope, memoryScopes } from './scope.ts'

export interface MemoryManagerOptions<Schemas extends ValueSchemas = ValueSchemas> {
  /** One store for all scopes, or one for each. */
  stores: MemoryStore | Record<MemoryScope, MemoryStore>
  /** Whose memory this is. Default `default`. */
  namespace?: string
  /** Makes text findable by meaning, in stores that keep vectors. */
  embedder?: Embedder
  /** Value types by scope and key, checked at every write and read. */
  schemas?: Schemas
  /**
   * What to do with secrets before anything is stored, indexed or embedded: replace them (`redact`, the
   * default), refuse the write (`reject`) or keep them (`allow`).
   */
  redact?: RedactPolicy
  /** Told what was replaced in each write: kinds and counts, never the secret. */
  onRedaction?: (report: RedactionReport) => void
  policies?: MemoryPolicies
  clock?: Clock
}

export interface MemoryPolicies {
  /** Milliseconds an entry lives after its last access when `write` does not say. Default: short-term 1 hour. */
  defaultTtl?: Partial<Record<MemoryScope, number>>
}

export const shortTermTtl = 60 * 60 * 1000

/** The front of every memory: validation, expiry instants, redaction and embedding, written once. */
export function createMemoryManager<Schemas extends ValueSchemas = Record<never, never>>(
  options: MemoryManagerOptions<Schemas>,
): MemoryManager<TypesOf<Schemas>> {
  const { embedder, clock = systemClock } = options
  const namespace = parseInput(keySchema, options.namespace ?? 'default', 'namespace')
  const schemas: ValueSchemas = options.schemas ?? {}
  const defaultTtl = { 'short-term': shortTermTtl, ...options.policies?.defaultTtl }
  const redactor = createRedactor(options.redact ?? 'redact', options.onRedaction)
  const stores = storesByScope(options.stores)
  let closed = false

  /** Every call starts here: a closed memory refuses, and the scope is one of the four. */
  const enter = (scope: MemoryScope): MemoryStore => {
    if (closed) throw new MemoryError('this memory is closed: open it again', MemoryErrorCode.CLOSED)
    return stores[parseInput(scopeSchema, scope, 'scope')]
  }

  const addressOf = (scope: MemoryScope, key: string): Address => ({
    namespace,
    scope,
    key: parseInput(keySchema, key, 'key'),
  })

  const toEntry = async (
    store: MemoryStore,
    scope: MemoryScope,
    key: string,
    value: unknown,
    given: WriteOptions | undefined,
    now: number,
  ): Promise<Entry> => {
    const address = addressOf(scope, key)
    const wanted = parseInput(writeOptionsSchema, given ?? {}, 'options')
    if (wanted.encrypt)
      throw new MemoryError('no encryption key was supplied', MemoryErrorCode.NOT_SUPPORTED, { scope, key })
    if (wanted.embedding && !store.capabilities.semantic) throw noVectors(store, scope)
    const checked = toJson(checkWritten(schemas, scope, key, value))
    const { text: ownText = null, type = null, tags = [] } = wanted
    const clean = redactor(address, { value: checked, text: ownText, type, tags })
    // A placeholder may be no e-mail address, say: better refused here than found corrupt by every read.
    if (clean.value !== checked) checkWritten(schemas, scope, key, clean.value)
    const text = wanted.index === false ? '' : (clean.text ?? searchableText(clean.value))
    const ttl = wanted.ttl ?? defaultTtl[scope] ?? Number.POSITIVE_INFINITY
    return {
      ...address,
      value: clean.value,
      text,
      type: clean.type ?? ownType(clean.value),
      tags: [...new Set(clean.tags)],
      createdAt: now,
      updatedAt: now,
      accessedAt: now,
      accessCount: 0,
      ttl: Number.isFinite(ttl) ? ttl : null,
      expiresAt: Number.isFinite(ttl) ? now + ttl : null,
      encrypted: false,
      embedding: await embed(store, text, wanted.embedding),
    }
  }

  const embed = async (store: MemoryStore, text: string, own?: number[]): Promise<Entry['embedding']> => {
    if (own) return { model: embedder?.model ?? 'custom', vector: own }
    if (!embedder || !store.capabilities.semantic || text === '') return null
    const [vector] = await embedder.embed([text], 'document')
    return vector ? { model: embedder.model, vector: [...vector] } : null
  }

  const toMatch = <T>({ entry, score, mode, passage, signals }: Found, explain: boolean): MemoryMatch<T> => ({
    key: entry.key,
    value: checkRead(schemas, entry.scope, entry.key, entry.value) as T,
    score,
    metadata: entryMetadata(entry),
    mode,
    ...(passage ? { passage } : {}),
    ...(explain ? { signals } : {}),
  })

  const commit = async (scope: MemoryScope, updates: readonly AtomicUpdate[]): Promise<void> => {
    const store = enter(scope)
    const now = clock()
    const keys = updates.map(({ key }) => key)
    if (new Set(keys).size < keys.length) {
      throw new MemoryError('a key may stand only once in a batch', MemoryErrorCode.INVALID_INPUT, { scope })
    }
    const changes: Change[] = []
    for (const update of updates) {
      if (update.operation === 'delete') changes.push({ remove: addressOf(scope, update.key) })
      else {
        const { key, value, options } = update
        const entry = await toEntry(store, scope, key, value, options, now)
        changes.push({ put: entry, options: { overwrite: options?.overwrite ?? true, now } })
      }
    }
    await failingAs(MemoryErrorCode.WRITE_FAILED, { scope }, () => store.commit(changes))
  }

  const read = async (scope: MemoryScope, key: string, given?: ReadOptions): Promise<unknown> => {
    const store = enter(scope)
    const address = addressOf(scope, key)
    const { includeMetadata } = parseInput(readOptionsSchema, given ?? {}, 'options')
    const now = clock()
    return failingAs(MemoryErrorCode.SEARCH_FAILED, { scope, key }, async () => {
      const entry = await store.get(address, now)
      if (!entry) return null
      const value = checkRead(schemas, scope, key, entry.value)
      await store.touch([address], now)
      return includeMetadata ? { value, metadata: entryMetadata(accessed(entry, now)) } : value
    })
  }

  const manager: MemoryManager<ValueTypes> = {
    namespace,
    capabilities: capabilitiesOf(stores),

    async write(scope: MemoryScope, key: string, value: unknown, given?: WriteOptions): Promise<void> {
      const store = enter(scope)
      const now = clock()
      const entry = await toEntry(store, scope, key, value, given, now)
      const putOptions = { overwrite: given?.overwrite ?? true, now }
      await failingAs(MemoryErrorCode.WRITE_FAILED, { scope, key }, () => store.put(entry, putOptions))
    },

    read: read as MemoryManager<ValueTypes>['read'],

    async search<T>(
      scope: MemoryScope,
      query: SearchQuery,
      given?: SearchOptions,
    ): Promise<MemoryMatch<T>[]> {
      const store = enter(scope)
      const { text: words, tags, filters, embedding } = parseInput(searchQuerySchema, query, 'query')
      const wanted = parseInput(searchOptionsSchema, given ?? {}, 'options')
      if (embedding && !store.capabilities.semantic) throw noVectors(store, scope)
      const filter = parseFilter(filters)
      const text = words?.trim() ? words : undefined
      const now = clock()
      return failingAs(MemoryErrorCode.SEARCH_FAILED, { scope }, async () => {
        const vector =
          embedding ?? (text && store.capabilities.semantic ? await embedQuery(embedder, text) : undefined)
        const found = await store.find({
          namespace,
          scope,
          ...(text === undefined ? {} : { text }),
          ...(vector ? { embedding: { model: embedding ? null : (embedder?.model ?? null), vector } } : {}),
          filter,
          tags: tags ?? [],
          limit: wanted.limit ?? 10,
          offset: wanted.offset ?? 0,
          sortBy: wanted.sortBy ?? (text || vector ? 'relevance' : 'recency'),
          sortOrder: wanted.sortOrder ?? 'desc',
          minScore: wanted.minScore ?? 0,
          now,
        })
        const touch = wanted.touch ?? true
        if (touch && found.length > 0)
          await store.touch(
            found.map(({ entry }) => entry),
            now,
          )
        return found.map((match) =>
          toMatch<T>(
            touch ? { ...match, entry: accessed(match.entry, now) } : match,
            wanted.explain ?? false,
          ),
        )
      })
    },

    async clear(scope: MemoryScope, filter?: ClearFilter): Promise<void> {
      const store = enter(scope)
      const { olderThan, tags, type } = parseInput(clearFilterSchema, filter ?? {}, 'filter')
      await failingAs(MemoryErrorCode.WRITE_FAILED, { scope }, () =>
        store.removeAll({
          namespace,
          scope,
          ...(olderThan === undefined ? {} : { updatedBefore: olderThan }),
          ...(tags === undefined ? {} : { tags }),
          ...(type === undefined ? {} : { type }),
        }),
      )
    },

    async delete(scope: MemoryScope, key: string): Promise<void> {
      const store = enter(scope)
      const address = addressOf(scope, key)
      await failingAs(MemoryErrorCode.WRITE_FAILED, { scope, key }, () => store.remove(address))
    },

    async exists(scope: MemoryScope, key: string): Promise<boolean> {
      const store = enter(scope)
      const address = addressOf(scope, key)
      const now = clock()
      return failingAs(
        MemoryErrorCode.SEARCH_FAILED,
        { scope, key },
        async () => (await store.get(address, now)) !== null,
      )
    },

    async cleanup(given?: CleanupOptions): Promise<CleanupResult> {
      const {
        scope,
        dryRun = false,
        threshold = 0,
      } = parseInput(cleanupOptionsSchema, given ?? {}, 'options')
      const scopes = scope ? [scope] : memoryScopes
      for (const each of scopes) enter(each)
      if (threshold > 0) {
        throw new MemoryError('eviction needs a quota, and none is set', MemoryErrorCode.NOT_SUPPORTED)
      }
      const started = clock()
      const result: CleanupResult = { deleted: 0, archived: 0, errors: [], duration: 0 }
      for (const each of scopes) {
        try {
          result.deleted += await stores[each].sweep({ namespace, scope: each, now: started, dryRun })
        } catch (error) {
          result.errors.push({ scope: each, message: (error as Error).message })
        }
      }
      return { ...result, duration: clock() - started }
    },

    async batchRead<T>(scope: MemoryScope, keys: readonly string[]): Promise<Map<string, T>> {
      enter(scope)
      const found = new Map<string, T>()
      for (const key of new Set(parseInput(keysSchema, keys, 'keys'))) {
        const record = (await read(scope, key, { includeMetadata: true })) as { value: T } | null
        if (record) found.set(key, record.value)
      }
      return found
    },

    async batchWrite(scope: MemoryScope, writes: readonly BatchWrite[]): Promise<void> {
      const given = parseInput(batchSchema, writes, 'writes') as BatchWrite[]
      await commit(
        scope,
        given.map((write) => ({ ...write, operation: 'set' })),
      )
    },

    async atomicUpdate(scope: MemoryScope, updates: readonly AtomicUpdate[]): Promise<void> {
      await commit(scope, parseInput(updatesSchema, updates, 'updates') as AtomicUpdate[])
    },

    async close(): Promise<void> {
      if (closed) return
      closed = true
      for (const store of new Set(Object.values(stores))) await store.close()
      await embedder?.close?.()
    },

    [Symbol.asyncDispose]: () => manager.close(),
  }
  return manager as MemoryManager<TypesOf<Schemas>>
}

function storesByScope(stores: MemoryManagerOptions['stores']): Record<MemoryScope, MemoryStore> {
  if (!isOneStore(stores)) return stores
  return { working: stores, 'short-term': stores, 'long-term': stores, episodic: stores }
}

const isOneStore = (stores: MemoryManagerOptions['stores']): stores is MemoryStore => 'capabilities' in stores

function capabilitiesOf(stores: Record<MemoryScope, MemoryStore>): Record<MemoryScope, Capabilities> {
  const entries = memoryScopes.map((scope) => [scope, stores[scope].capabilities])
  return Object.fromEntries(entries) as Record<MemoryScope, Capabilities>
}

async function embedQuery(embedder: Embedder | undefined, text: string): Promise<number[] | undefined> {
  const [vector] = (await embedder?.embed([text], 'query')) ?? []
  return vector && [...vector]
}

/** The entry as it stands after the access that is being answered. */
function accessed(entry: Entry, now: number): Entry {
  const expiresAt = entry.ttl === null ? entry.expiresAt : now + entry.ttl
  return { ...entry, accessedAt: now, accessCount: entry.accessCount + 1, expiresAt }
}

function toJson(value: unknown): JsonValue {
  try {
    return toJsonValue(value)
  } catch (error) {
    throw new MemoryError((error as Error).message, MemoryErrorCode.INVALID_INPUT, { cause: error })
  }
}

const ownType = (value: JsonValue): string | null =>
  isJsonObject(value) && typeof value.type === 'string' && value.type !== '' ? value.type : null

const noVectors = (store: MemoryStore, scope: MemoryScope): MemoryError =>
  new MemoryError(`the ${store.name} store keeps no vectors: search by text`, MemoryErrorCode.NOT_SUPPORTED, {
    scope,
  })

/** Lets a store's own `MemoryError` through and gives every other failure a code, a scope and its cause. */
async function failingAs<T>(
  code: MemoryErrorCode,
  context: { scope: MemoryScope; key?: string },
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (isMemoryError(error)) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new MemoryError(message, code, { ...context, cause: error })
  }
}
