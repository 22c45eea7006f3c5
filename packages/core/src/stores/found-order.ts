import type { Found, StoreQuery } from '../memory-store.ts'
import { compareCodePoints } from '../text/code-points.ts'

const measures: Record<StoreQuery['sortBy'], (match: Found) => number> = {
  relevance: ({ score }) => score,
  recency: ({ entry }) => entry.updatedAt,
  lastAccess: ({ entry }) => entry.accessedAt,
  accessCount: ({ entry }) => entry.accessCount,
}

/** The order that the query asks for. Ties are broken by recency, then by key, so that paging is stable. */
export function byOrder({ sortBy, sortOrder }: StoreQuery): (a: Found, b: Found) => number {
  const direction = sortOrder === 'asc' ? -1 : 1
  const measure = measures[sortBy]
  return (a, b) =>
    direction * (measure(b) - measure(a)) ||
    direction * (b.entry.updatedAt - a.entry.updatedAt) ||
    compareCodePoints(a.entry.key, b.entry.key)
}
