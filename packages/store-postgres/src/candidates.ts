import type { Found } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { entries, units } from './schema/entries.ts'

/** What is known of a unit and its entry before it is scored; the rest is read for one page only. */
export interface UnitMatch {
  /** Of the entry. */
  id: string
  unit: number
  /** How many the entry has. */
  units: number
  label: string
  key: string
  updatedAt: number
  accessedAt: number
  accessCount: number
  /** Cosine, -1..1, when the query and the unit have a vector. */
  similarity: number | null
}

/** An entry that may be returned. */
export interface Candidate extends Pick<Found, 'score' | 'confidence' | 'signals' | 'mode'> {
  id: string
  key: string
  updatedAt: number
  accessedAt: number
  accessCount: number
  /** Its best units, best first. */
  found: { unit: number; score: number }[]
}

/** A unit is joined to its entry; what an older version of the entry left is not looked at. */
export const unitsOfEntries = sql`${units} join ${entries}
  on ${entries.place} = ${units.place} and ${entries.id} = ${units.entry} and ${units.unit} < ${entries.unitCount}`

/** Of `unitsOfEntries`, everything but the similarity. */
export const matchColumns = sql`${entries.id} as id, ${units.unit} as unit, ${entries.unitCount} as units,
  ${units.label} as label, ${entries.key} as key, ${entries.updatedAt} as "updatedAt",
  ${entries.accessedAt} as "accessedAt", ${entries.accessCount}::float8 as "accessCount"`

/** A vector of zeros is similar to nothing; of a unit without a vector nothing is known. */
export const similarityTo = (literal: string): SQL => sql`
  case when ${units.embedding} is not null
  then coalesce(nullif(1 - (${units.embedding} <=> ${literal}::text::vector), 'NaN'), 0) end`

/**
 * Units until there are enough entries among them: a long conversation may have as many matches as all the others
 * together.
 *
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
