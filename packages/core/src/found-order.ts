import { compareCodePoints } from './filter/matches-filter.ts'
import type { Found, StoreQuery } from './memory-store.ts'

/** The order that the query asks for; ties by recency, then by key, so that paging is stable. */
export function byOrder({ sortBy, sortOrder }: StoreQuery): (a: Found, b: Found) => number {
  const direction = sortOrder === 'asc' ? -1 : 1
  const measure = (match: Found): number =>
    sortBy === 'relevance'
      ? match.score
      : sortBy === 'recency'
        ? match.entry.updatedAt
        : sortBy === 'lastAccess'
          ? match.entry.accessedAt
          : match.entry.accessCount
  return (a, b) =>
    direction * (measure(b) - measure(a)) ||
    direction * (b.entry.updatedAt - a.entry.updatedAt) ||
    compareCodePoints(a.entry.key, b.entry.key)
}
