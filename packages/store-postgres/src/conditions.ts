import type { Filter, Place } from '@recall/core'
import { and, arrayContains, eq, type SQL, sql } from 'drizzle-orm'
import { placeId } from './address.ts'
import { compileFilter } from './compile-filter.ts'
import { entries } from './schema/entries.ts'

/** In which of a place's two parts entries lie: among the others, or archived. */
export type Part = 'current' | 'archive'

export const inPlace = (place: Place, part: Part): SQL => eq(entries.place, placeId(place, part))

/** Not expired at a time; an entry is expired from its instant on. */
export const isLive = (now: number): SQL =>
  sql`(${entries.expiresAt} is null or ${entries.expiresAt} > ${now}::float8)`

export const isExpired = (now: number): SQL => sql`${entries.expiresAt} <= ${now}::float8`

/** What a search may return, whatever it ranks by. */
export function isEligible(
  query: Place & { now: number; tags?: readonly string[]; filter?: Filter },
  part: Part,
): SQL {
  const { tags = [], filter } = query
  const conditions = [
    inPlace(query, part),
    isLive(query.now),
    tags.length > 0 ? arrayContains(entries.tags, [...tags]) : undefined,
    filter ? compileFilter(filter) : undefined,
  ]
  return and(...conditions) as SQL
}
