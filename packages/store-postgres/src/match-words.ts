import { type Found, lexicalScore, type StoreQuery } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { inPlace, isLive, type Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { entries } from './schema/entries.ts'
import { anyOf } from './words.ts'

/** An entry that may be returned, with its score and what orders it; the rest is read for one page only. */
export interface Candidate extends Pick<Found, 'score' | 'signals' | 'mode'> {
  id: string
  key: string
  updatedAt: number
  accessedAt: number
  accessCount: number
}

export const candidateColumns = sql`${entries.id} as id, ${entries.key} as key, ${entries.updatedAt} as "updatedAt", ${entries.accessedAt} as "accessedAt", ${entries.accessCount}::float8 as "accessCount"`

export type CandidateRow = Omit<Candidate, 'score' | 'signals' | 'mode'>

/**
 * Entries that hold any of the terms. Postgres finds them and computes BM25 as core's `bm25` does, over all
 * live entries of the place; core turns that into scores.
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
): Promise<Candidate[]> {
  if (terms.length === 0) return []
  const live = sql`${inPlace(query, shelf)} and ${isLive(query.now)}`
  const rows = await rowsOf<CandidateRow & { bm25: number; matched: number }>(
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
      select ${candidateColumns}, evidence.bm25, evidence.matched::float8 as matched
      from ${entries}, lateral (
        select count(*) as matched,
          sum(rarity * positions[1] * ${k1 + 1}::float8 / (positions[1] + ${k1}::float8 * (
            1 - ${b}::float8 + ${b}::float8 * ${entries.wordCount} / greatest(1, average)
          ))) as bm25
        from collection, rarities join unnest(${entries.words}) on lexeme = term
      ) as evidence
      where ${eligible} and ${entries.words} @@ ${anyOf(terms)}::text::tsquery
      order by evidence.bm25 desc, ${entries.updatedAt} desc, ${entries.key} collate "C"
      limit ${most}`,
  )
  return rows.map(({ bm25, matched, ...row }) => {
    const evidence = {
      bm25,
      queryTerms: terms.length,
      matchedTerms: matched,
      ageMs: query.now - row.updatedAt,
    }
    return { ...row, mode: 'lexical', ...lexicalScore(evidence) }
  })
}

/** The parameters of core's `bm25`; a test holds both against each other. */
const k1 = 1.2
const b = 0.75
