import type { Found, StoreQuery } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { inPlace, isLive, type Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { entries } from './schema/entries.ts'
import { anyOf } from './words.ts'

/** What is known of an entry before it is scored; the rest is read for one page only. */
export interface CandidateRow {
  id: string
  key: string
  updatedAt: number
  accessedAt: number
  accessCount: number
}

/** One that may be returned. */
export interface Candidate extends CandidateRow, Pick<Found, 'score' | 'signals' | 'mode'> {}

export interface WordMatch extends CandidateRow {
  bm25: number
  /** The beginning of the text, where its label stands. */
  opening: string
}

export interface WordMatches {
  /** Best first. */
  rows: WordMatch[]
  /** Sum of the inverse document frequencies of all terms. */
  rarity: number
}

export const candidateColumns = sql`${entries.id} as id, ${entries.key} as key, ${entries.updatedAt} as "updatedAt", ${entries.accessedAt} as "accessedAt", ${entries.accessCount}::float8 as "accessCount"`

/**
 * Entries that hold any of the terms. Postgres finds them and computes BM25 as core's `bm25` does, over all
 * live entries of the place; core turns that into scores. A term that none holds is as rare as can be.
 *
 * @param most no more than these, the best by BM25
 */
export async function matchWords(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  terms: readonly string[],
  most: number | null,
): Promise<WordMatches> {
  if (terms.length === 0) return { rows: [], rarity: 0 }
  const live = sql`${inPlace(query, shelf)} and ${isLive(query.now)}`
  const rows = await rowsOf<WordMatch & { rarity: number }>(
    database,
    sql`
      with collection as materialized (
        select count(*) as size, coalesce(avg(${entries.wordCount}), 0)::float8 as average
        from ${entries} where ${live}
      ), rarities as materialized (
        select term, ln(1 + (size - holding + 0.5) / (holding + 0.5))::float8 as rarity
        from collection, (
          select term, (
            select count(*) from ${entries}
            where ${live} and ${entries.words} @@ ('''' || term || '''')::tsquery
          ) as holding
          from jsonb_array_elements_text(${JSON.stringify(terms)}::text::jsonb) as term
        ) as counted
      )
      select ${candidateColumns}, evidence.bm25, left(${entries.text}, ${labelLength}) as opening,
        (select sum(rarity) from rarities) as rarity
      from ${entries}, lateral (
        select sum(rarity * positions[1] * ${k1 + 1}::float8 / (positions[1] + ${k1}::float8 * (
            1 - ${b}::float8 + ${b}::float8 * ${entries.wordCount} / greatest(1, average)
          ))) as bm25
        from collection, rarities join unnest(${entries.words}) on lexeme = term
      ) as evidence
      where ${eligible} and ${entries.words} @@ ${anyOf(terms)}::text::tsquery
      order by evidence.bm25 desc, ${entries.updatedAt} desc, ${entries.key} collate "C"
      limit ${most}`,
  )
  return { rows, rarity: rows[0]?.rarity ?? 0 }
}

/** A label is a heading of up to 200 characters and a name. */
const labelLength = 300

/** The parameters of core's `bm25`; a test holds both against each other. */
const k1 = 1.2
const b = 0.75
