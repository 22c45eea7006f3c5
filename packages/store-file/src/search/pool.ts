import { confidenceRank, noiseRank, type StoreQuery } from '@recall/core'

/**
 * How many candidates to look at. It grows in powers of two, so that the pages of one search are cut from the
 * same list.
 */
export function poolOf({ sortBy, sortOrder, offset, limit }: StoreQuery): number {
  // Any order but best-first has to see every match.
  if (sortBy !== 'relevance' || sortOrder === 'asc') return everything
  return Math.max(noiseRank, 2 ** Math.ceil(Math.log2(offset + limit)))
}

/** More than any scope holds. */
export const everything = 2 ** 31

/** How many entries to look at: those that were asked for, and enough to judge the confidence of the first. */
export const wantedOf = ({ offset, limit }: StoreQuery, pool: number): number =>
  Math.min(pool, Math.max(confidenceRank, offset + limit))

/** Most candidates pass, so a few more than needed are enough. */
export const spare = 14
