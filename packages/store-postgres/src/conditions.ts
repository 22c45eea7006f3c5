import type { Filter, MemoryScope, Place } from '@recall/core'
import { and, arrayContains, eq, type SQL, sql } from 'drizzle-orm'
import { placeId } from './address.ts'
import { compileFilter } from './compile-filter.ts'
import { entries } from './schema/entries.ts'

/** Which entries a store works on, of all that a table holds. */
export interface Shelf {
  /** Whose they are; stores of different tenants share nothing. */
  tenant: string
  archived: boolean
  /** What splits and stems texts; core where there is none. */
  textConfiguration: string | null
  /** Most that a place of a scope may hold, in bytes. */
  quotas: Partial<Record<MemoryScope, number>>
}

export const inPlace = (place: Place, shelf: Shelf): SQL => eq(entries.place, placeId(place, shelf))

/** Not expired at a time; an entry is expired from its instant on. */
export const isLive = (now: number): SQL =>
  sql`(${entries.expiresAt} is null or ${entries.expiresAt} > ${now}::float8)`

export const isExpired = (now: number): SQL => sql`${entries.expiresAt} <= ${now}::float8`

/** What a search may return, whatever it ranks by. */
export function isEligible(
  query: Place & { now: number; tags?: readonly string[]; filter?: Filter },
  shelf: Shelf,
): SQL {
  const { tags = [], filter } = query
  const conditions = [
    inPlace(query, shelf),
    isLive(query.now),
    tags.length > 0 ? arrayContains(entries.tags, [...tags]) : undefined,
    filter ? compileFilter(filter) : undefined,
  ]
  return and(...conditions) as SQL
}
