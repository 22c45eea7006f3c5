import type { Embedder } from '../embedder.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { SearchOptions, SearchQuery } from '../memory-manager.ts'
import type { MemoryStore, Place, StoreQuery } from '../memory-store.ts'
import { namedDates } from '../ranking/named-dates.ts'
import { besideEnvelopes } from './beside-envelopes.ts'
import { embedQuery } from './embed-query.ts'
import { noVectors } from './entry-factory.ts'

/**
 * The query that a store gets for a search: the filter parsed, defaults filled in, dates spelled out and the text
 * embedded.
 *
 * @throws MemoryError INVALID_INPUT for a filter that is wrong, NOT_SUPPORTED for a vector where the store keeps none
 */
export async function toStoreQuery(
  store: MemoryStore,
  place: Place,
  query: SearchQuery,
  options: SearchOptions,
  { embedder, now }: { embedder: Embedder | undefined; now: number },
): Promise<StoreQuery> {
  if (query.embedding && !store.capabilities.semantic) throw noVectors(store, place.scope)
  const filter = besideEnvelopes(parseFilter(query.filters))
  const text = query.text?.trim() ? query.text : undefined
  const embedding = query.embedding
    ? { model: null, vector: Array.from(query.embedding) }
    : await embeddingOf(store, text, embedder)
  return {
    ...place,
    ...(text === undefined ? {} : { text: `${text} ${namedDates(text, now)}`.trim() }),
    ...(embedding ? { embedding } : {}),
    filter,
    tags: query.tags ?? [],
    limit: options.limit ?? 10,
    offset: options.offset ?? 0,
    sortBy: options.sortBy ?? (text || embedding ? 'relevance' : 'recency'),
    sortOrder: options.sortOrder ?? 'desc',
    minScore: options.minScore ?? 0,
    ...(options.passages === undefined ? {} : { passages: options.passages }),
    now,
  }
}

/** The vector of a text, if the store can search by vectors. */
async function embeddingOf(
  { capabilities }: MemoryStore,
  text: string | undefined,
  embedder: Embedder | undefined,
): Promise<StoreQuery['embedding']> {
  if (text === undefined || !embedder || !(capabilities.semantic || capabilities.meaning)) return undefined
  return embedQuery(embedder, text)
}
