import { conversationType, type Found } from '@recall/core'
import type { Sureness } from '@recall/core/ranking'
import { type SQL, sql } from 'drizzle-orm'
import { entries, units } from '../schema/entries.ts'

/** A unit that matched, with the columns of its entry that ranking needs. Other columns are read for one page only. */
export interface UnitMatch {
  /** The id of the entry. */
  id: string
  unit: number
  /** How many units its turn was cut into; outside of conversations, how many the entry was. */
  parts: number
  label: string
  /** Whether the entry is a conversation of several turns. */
  isConversation: boolean
  key: string
  updatedAt: number
  accessedAt: number
  accessCount: number
  /** Cosine similarity, -1..1; `null` without a vector of the query or the unit. */
  similarity: number | null
}

/** An entry that may be part of the result. */
export interface Candidate extends Pick<Found, 'score' | 'confidence' | 'signals' | 'mode'> {
  id: string
  key: string
  updatedAt: number
  accessedAt: number
  accessCount: number
  /** Its best units, best first. */
  found: (Sureness & { unit: number })[]
}

/** Joins units to their entries, without units that an older, longer version of the entry left behind. */
export const unitsOfEntries = sql`${units} join ${entries}
  on ${entries.place} = ${units.place} and ${entries.id} = ${units.entry} and ${units.unit} < ${entries.unitCount}`

/**
 * The same, from the entries to their units, whatever the planner believes: it underestimates places, and then joins
 * all units of one to get the first few.
 */
export const entriesWithUnits = sql`${entries} cross join lateral (
  select * from ${units}
  where ${units.place} = ${entries.place} and ${units.entry} = ${entries.id} and ${units.unit} < ${entries.unitCount}
  offset 0
) as units`

/** SQL for whether an entry is a conversation of several turns. */
export const isConversation = sql`
  (${entries.unitCount} > 1 and coalesce(${entries.type} = ${JSON.stringify(conversationType)}, false))`

/** The columns of `UnitMatch` except for the similarity, selected from `unitsOfEntries`. */
export const matchColumns = sql`${entries.id} as id, ${units.unit} as unit,
  case when ${isConversation} then ${units.parts} else ${entries.unitCount} end as parts, ${units.label} as label, ${isConversation} as "isConversation", ${entries.key} as key, ${entries.updatedAt} as "updatedAt",
  ${entries.accessedAt} as "accessedAt", ${entries.accessCount}::float8 as "accessCount"`

/**
 * SQL for the similarity to a vector: 0 for a vector of zeros, null for a unit without a vector of that length. Another
 * length may have been written since the model was checked, and comparing it would fail.
 *
 * @param literal the vector, as JSON
 */
export const similarityTo = (literal: string): SQL => sql`
  case when ${units.embedding} is not null and ${entries.dimensions} = vector_dims(${literal}::text::vector)
  then coalesce(nullif(1 - (${units.embedding} <=> ${literal}::text::vector), 'NaN'), 0) end`

/**
 * Requests more and more units until they belong to enough entries: one long conversation may have as many matches as
 * all others together.
 *
 * @param wanted how many entries
 * @param first how many units to begin with; `null` for all
 */
export async function untilEnough<Match extends UnitMatch>(
  wanted: number,
  first: number | null,
  find: (most: number | null) => Promise<Match[]>,
): Promise<Match[]> {
  for (let most = first; ; most = most === null ? null : most * 4) {
    const rows = await find(most)
    if (most === null || rows.length < most || new Set(rows.map(({ id }) => id)).size >= wanted) return rows
  }
}
