import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { Found, StoreQuery } from '../memory-store.ts'
import { confidenceRank } from '../ranking/confidence.ts'

/**
 * The page that a query asks for, or nothing when the best match of the whole search has a confidence below
 * `minConfidence`, 0..1. The best match is determined in the same way for every page, order and limit, so the pages of
 * one search never disagree.
 *
 * @param find answers a query, as `MemoryStore.find` does
 * @throws MemoryError INVALID_INPUT without a text: only a search by text has a confidence
 */
export async function findWhenSure<Match extends Found>(
  find: (query: StoreQuery) => Promise<Match[]>,
  query: StoreQuery,
  minConfidence: number,
): Promise<Match[]> {
  if (minConfidence === 0) return find(query)
  if (query.text === undefined) {
    const message = 'only a search by text has a confidence: give a text, or leave out minConfidence'
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT, { scope: query.scope })
  }
  const { offset, limit, sortBy, sortOrder } = query
  const best = await find({
    ...query,
    offset: 0,
    limit: confidenceRank,
    sortBy: 'relevance',
    sortOrder: 'desc',
  })
  if ((best[0]?.confidence ?? 0) < minConfidence) return []
  const isCutFromBest = sortBy === 'relevance' && sortOrder === 'desc' && offset + limit <= confidenceRank
  return isCutFromBest ? best.slice(offset, offset + limit) : find(query)
}
