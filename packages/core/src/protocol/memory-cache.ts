import { LRUCache } from 'lru-cache'
import type { CachedEntry, MemoryCache } from '../front/cached-read.ts'
import { jsonBytes } from '../json.ts'
import { parseInput } from '../parse-input.ts'
import { cacheOptionsSchema } from './inputs.ts'

export interface MemoryCacheOptions {
  /** Bytes of values, as compact JSON, that are kept. Default 16 MB. */
  maxBytes?: number | undefined
  /** Entries that are kept, at most 1,000,000. Default 10,000. */
  maxEntries?: number | undefined
}

/**
 * An LRU cache for `createMemoryManager({ cache })`. Before a cached value is answered, the entry's stamp is compared
 * with the store's, so the answer is never out of date.
 *
 * @throws MemoryError INVALID_INPUT for a size that is not a whole number above 0, or for more entries than are allowed
 */
export function createMemoryCache(options: MemoryCacheOptions = {}): MemoryCache {
  parseInput(cacheOptionsSchema, options, 'options')
  const { maxBytes = 16 * 1024 * 1024, maxEntries = 10_000 } = options
  return new LRUCache<string, CachedEntry>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: ({ entry }) => jsonBytes(entry.value),
  })
}
