import type { Address, Filter, Place } from '@recall/core'
import { and, arrayContains, eq, type SQL, sql } from 'drizzle-orm'
import { compileFilter } from '../filter/compile-filter.ts'
import { entries } from '../schema/entries.ts'
import { entryId, placeId } from './address.ts'
import type { Shelf } from './shelf.ts'

export const inPlace = (place: Place, shelf: Shelf): SQL => eq(entries.place, placeId(place, shelf))

export const isAt = (address: Address, shelf: Shelf): SQL =>
  and(inPlace(address, shelf), eq(entries.id, entryId(address))) as SQL

/** Whether an entry has not expired yet. It expires at the very instant `expiresAt`. */
export const isLive = (now: number): SQL =>
  sql`(${entries.expiresAt} is null or ${entries.expiresAt} > ${now}::float8)`

export const isExpired = (now: number): SQL => sql`${entries.expiresAt} <= ${now}::float8`

/** Whether a search may return an entry, however it ranks. */
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
