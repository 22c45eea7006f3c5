import type { StoreQuery } from '@recall/core'
import { confidenceRank, noiseRank } from '@recall/core/ranking'

/** How many candidates to look at. */
export function poolOf(query: StoreQuery): number {
  return isBestFirst(query) ? Math.max(noiseRank, query.offset + query.limit) : unlimited
}

/** Any order other than best first has to see every match. */
export const isBestFirst = ({ sortBy, sortOrder }: StoreQuery): boolean =>
  sortBy === 'relevance' && sortOrder === 'desc'

/** More than any scope holds. */
export const unlimited = 2 ** 31

/** How many entries to look at: the requested ones, and enough to judge the confidence of the first. */
export const wantedOf = ({ offset, limit }: StoreQuery, pool: number): number =>
  Math.min(pool, Math.max(confidenceRank, offset + limit))

/** Most candidates pass, so a few more than needed are enough. */
export const spare = 14
