import type { Clock } from '../clock.ts'
import type { Embedder } from '../embedder.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type { MemoryMatch, ReadOptions, SearchOptions, SearchQuery } from '../memory-manager.ts'
import type { Address, ColdStore, Entry, MemoryStore, Place, StoreQuery } from '../memory-store.ts'
import { parseInput } from '../parse-input.ts'
import type { ValueSchemas } from '../schemas.ts'
import type { MemoryScope } from '../scope.ts'
import { entryMetadata } from '../stores/entry-metadata.ts'
import { slidExpiry } from '../stores/expiry.ts'
import type { CachedReads, ValueAt } from './cached-read.ts'
import { checkRead } from './check-values.ts'
import { isEnvelope, missingKey, type Sealer } from './encryption.ts'
import { findWhenSure } from './find-when-sure.ts'
import { keysSchema, readOptionsSchema, searchOptionsSchema, searchQuerySchema } from './inputs.ts'
import { toStoreQuery } from './store-query.ts'
import { type FoundAnywhere, findWithArchived, getAnywhere } from './with-archive.ts'

/** The reads of a memory. Every entry that is returned counts as accessed. */
export interface Reading {
  read(store: MemoryStore, address: Address, options?: ReadOptions): Promise<unknown>
  readAll<T>(store: MemoryStore, place: Place, keys: readonly string[]): Promise<Map<string, T>>
  search<T>(
    store: MemoryStore,
    place: Place,
    query: SearchQuery,
    options: SearchOptions,
  ): Promise<MemoryMatch<T>[]>
}

export interface ReadingOptions {
  schemas: ValueSchemas
  embedder: Embedder | undefined
  sealer: Sealer | undefined
  cached: CachedReads | undefined
  clock: Clock
}

export function createReading({ schemas, embedder, sealer, cached, clock }: ReadingOptions): Reading {
  /** The plain value, decrypted if it is sealed. */
  const open = async (entry: ValueAt): Promise<JsonValue> => {
    const { value } = entry
    if (!isEnvelope(value)) return value
    if (!sealer) throw missingKey(value.kid, entry)
    return sealer.open(entry, value)
  }

  /** The plain value, checked. */
  const valueIn = async (entry: ValueAt): Promise<unknown> =>
    checkRead(schemas, entry.scope, entry.key, await open(entry))

  const toMatch = async <T>(
    match: FoundAnywhere,
    { explain, decrypt }: SearchOptions,
  ): Promise<MemoryMatch<T>> => {
    const { entry, score, confidence, mode, passage, passages, archived, signals } = match
    return {
      key: entry.key,
      value: (entry.encrypted && decrypt === false ? entry.value : await valueIn(entry)) as T,
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

  return {
    async read(store, address, given) {
      const { includeMetadata, decrypt, includeArchived } =
        given === undefined ? noOptions : parseInput(readOptionsSchema, given, 'options')
      const cold = archiveOf(store, address.scope, includeArchived)
      const now = clock()
      const reads = includeMetadata || decrypt === false ? undefined : cached
      const known = await reads?.read(store, address, now)
      if (known) return valueIn(known)
      const get: MemoryStore['get'] = (at) => (reads ? reads.load(store, at, now) : store.get(at, now))
      const { entry, archived } = await getAnywhere({ get }, cold, address, now)
      if (!entry) return null
      const value = decrypt === false ? entry.value : await valueIn(entry)
      if (!archived) await store.touch([address], now)
      if (!includeMetadata) return value
      return archived
        ? { value, metadata: entryMetadata(entry), archived }
        : { value, metadata: entryMetadata(accessed(entry, now)) }
    },

    async readAll<T>(store: MemoryStore, place: Place, keys: readonly string[]) {
      const wanted = [...new Set(parseInput(keysSchema, keys, 'keys'))]
      const now = clock()
      const found = new Map<string, T>()
      const accesses: Address[] = []
      for (let at = 0; at < wanted.length; at += readsAtOnce) {
        const addresses = wanted.slice(at, at + readsAtOnce).map((key) => ({ ...place, key }))
        const entries = await Promise.all(addresses.map((address) => store.get(address, now)))
        for (const [i, entry] of entries.entries()) {
          if (!entry) continue
          const address = addresses[i] as Address
          found.set(address.key, (await valueIn(entry)) as T)
          accesses.push(address)
        }
      }
      if (accesses.length > 0) await store.touch(accesses, now)
      return found
    },

    async search<T>(store: MemoryStore, place: Place, query: SearchQuery, given: SearchOptions) {
      const asked = parseInput(searchQuerySchema, query, 'query')
      const wanted = parseInput(searchOptionsSchema, given, 'options')
      const cold = archiveOf(store, place.scope, wanted.includeArchived)
      const now = clock()
      const storeQuery = await toStoreQuery(store, place, asked, wanted, { embedder, now })
      const find = async (part: StoreQuery): Promise<FoundAnywhere[]> =>
        cold ? findWithArchived(store, cold, part) : store.find(part)
      const found = await findWhenSure(find, storeQuery, wanted.minConfidence ?? 0)
      const isTouched = ({ archived }: FoundAnywhere): boolean => wanted.touch !== false && !archived
      const matches = await Promise.all(
        found.map((match) => {
          const entry = isTouched(match) ? accessed(match.entry, now) : match.entry
          return toMatch<T>({ ...match, entry }, wanted)
        }),
      )
      const touched = found.filter(isTouched).map(({ entry }) => entry)
      if (touched.length > 0) await store.touch(touched, now)
      return matches
    },
  }
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

/**
 * The archive of a store, if it is wanted.
 *
 * @throws MemoryError NOT_SUPPORTED when there is none
 */
function archiveOf(
  { name, cold }: MemoryStore,
  scope: MemoryScope,
  isWanted: boolean | undefined,
): ColdStore | undefined {
  if (!isWanted) return undefined
  if (cold) return cold
  throw new MemoryError(
    `the ${name} store has no archive: ask without includeArchived`,
    MemoryErrorCode.NOT_SUPPORTED,
    { scope },
  )
}
