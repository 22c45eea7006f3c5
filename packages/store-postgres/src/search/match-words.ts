import { fewestUnits, noiseRank, type StoreQuery } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from '../entries/address.ts'
import type { Shelf } from '../entries/shelf.ts'
import { quoted } from '../entries/words.ts'
import { entries, placeSizes, units } from '../schema/entries.ts'
import { matchColumns, similarityTo, type UnitMatch, unitsOfEntries } from './candidates.ts'

export interface WordMatch extends UnitMatch {
  /** 0 for a unit that holds none of the terms but stands beside one that does. */
  bm25: number
}

export interface WordMatches {
  /** Best first. */
  rows: WordMatch[]
  /** The inverse document frequency of each term, in the order of the terms. */
  rarities: number[]
}

/**
 * Finds units that hold any of the terms, and their neighbours. Postgres computes the same BM25 as core's `bm25`,
 * over all units of the place; core turns it into scores. A term that no unit holds gets the highest rarity.
 *
 * @param most limit of matched units, the best by BM25; `null` for all
 * @param vector the query's vector as JSON, to add the similarity of each unit
 */
export async function matchWords(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  terms: readonly string[],
  { most, vector }: { most: number | null; vector: string | null },
): Promise<WordMatches> {
  if (terms.length === 0) return { rows: [], rarities: [] }
  const place = sql`${placeId(query, shelf)}::uuid`
  const similarity = vector === null ? sql`null::float8` : similarityTo(vector)
  const rows = await rowsOf<WordMatch & { rarities: string }>(
    database,
    sql`
      with looked_for as materialized (${lookedFor(terms)}), collection as materialized (
        select greatest(1, coalesce(sum(${placeSizes.units}), 0))::float8 as size,
          coalesce(sum(${placeSizes.words}), 0)::float8 as words
        from ${placeSizes} where ${placeSizes.place} = ${place}
      ), holdings as materialized (
        select looked_for.*, (
          select count(*) from ${units} where ${units.place} = ${place} and ${units.words} @@ term
        ) as holding
        from looked_for
      ), rarities as materialized (
        select holdings.*, ln(1 + (greatest(size, holding, ${fewestUnits}) - holding + 0.5) / (holding + 0.5))::float8 as rarity
        from collection, holdings
      ), listed as materialized (
        select array_agg(rarity order by position) as rarity from rarities
      ), matched as materialized (
        select ${units.entry} as id, ${units.unit} as unit, ${entries.unitCount} as units, ${bm25Of(terms)} as bm25
        from ${unitsOfEntries} cross join collection cross join listed
        where ${units.place} = ${place} and ${units.words} @@ ${terms.map(quoted).join(' | ')}::text::tsquery
          and ${eligible}
        order by bm25 desc, ${entries.updatedAt} desc, ${entries.key} collate "C", ${units.unit}
        limit ${most}
      ), around as (
        select ${units.entry} as id, ${units.unit} as unit, 0 as bm25
        from (select * from matched order by bm25 desc limit ${noiseRank}) as best join ${units}
          on ${units.place} = ${place} and ${units.entry} = best.id and ${units.unit} in (best.unit - 1, best.unit + 1)
        where best.units > 1
      )
      select ${matchColumns}, ${similarity} as similarity, found.bm25,
        (select to_json(rarity) from listed)::text as rarities
      from (
        select id, unit, max(bm25) as bm25
        from (select id, unit, bm25 from matched union all select id, unit, bm25 from around) as either group by id, unit
      ) as found
      join ${unitsOfEntries} on ${units.place} = ${place} and ${units.entry} = found.id and ${units.unit} = found.unit
      order by found.bm25 desc, ${entries.updatedAt} desc, ${entries.key} collate "C", ${units.unit}`,
  )
  const [first] = rows
  return { rows, rarities: first ? (JSON.parse(first.rarities) as number[]) : [] }
}

/**
 * How much of the query each entry holds in any of its units, weighted by the rarity of the terms; 0..1.
 *
 * @param ids ids of the entries
 */
export async function coverageOf(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  terms: readonly string[],
  rarities: readonly number[],
  ids: readonly string[],
): Promise<Map<string, number>> {
  const total = rarities.reduce((sum, rarity) => sum + rarity, 0)
  const coverage = new Map<string, number>(ids.map((id) => [id, 0]))
  if (ids.length === 0 || total === 0) return coverage
  const rows = await rowsOf<{ id: string; position: number }>(
    database,
    sql`
      with looked_for as materialized (${lookedFor(terms)}), wanted as (
        select id::uuid from jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) as id
      )
      select distinct ${units.entry} as id, position::int as position
      from wanted join ${units} on ${units.place} = ${placeId(query, shelf)}::uuid and ${units.entry} = wanted.id
      cross join lateral ${unpackedWords} as unpacked join looked_for on unpacked.words @@ term`,
  )
  for (const { id, position } of rows) {
    coverage.set(id, (coverage.get(id) ?? 0) + (rarities[position - 1] ?? 0) / total)
  }
  return coverage
}

/** The terms as tsqueries, with their positions from 1. */
const lookedFor = (terms: readonly string[]): SQL => sql`
  select position, spelled::tsquery as term
  from jsonb_array_elements_text(${JSON.stringify(terms.map(quoted))}::text::jsonb)
    with ordinality as listed (spelled, position)`

/**
 * SQL for the BM25 of a unit, from the rarities of the terms. The weights of a term encode its count, see
 * `countedWords`.
 */
function bm25Of(terms: readonly string[]): SQL {
  const norm = sql`${k1} * (1 - ${b} + ${b} * ${units.wordCount} / greatest(1, collection.words / collection.size))`
  const parts = terms.map((term, i) => {
    const bit = (weight: string): SQL => sql`(unpacked.words @@ ${quoted(term) + weight}::text::tsquery)::int`
    const count = sql`nullif(8 * ${bit(':A')} + 4 * ${bit(':B')} + 2 * ${bit(':C')} + ${bit(':D')}, 0)`
    return sql`coalesce(rarity[${sql.raw(String(i + 1))}] * (${k1} + 1) / (1 + ${norm} / ${count}), 0)`
  })
  return sql`(select ${sumOf(parts)} from ${unpackedWords} as unpacked)`
}

/** The words of a unit, decompressed: otherwise each `@@` does so again, which takes most of the time of a search. */
const unpackedWords = sql`(select ${units.words} || ''::tsvector as words offset 0)`

/** Adds the parts as a balanced tree: Postgres parses a long chain recursively, and runs out of stack at thousands. */
function sumOf(parts: readonly SQL[]): SQL {
  const [only] = parts
  if (only && parts.length === 1) return only
  const half = parts.length >> 1
  return sql`(${sumOf(parts.slice(0, half))} + ${sumOf(parts.slice(half))})`
}

/**
 * The parameters of core's `bm25`; a test compares both implementations. They are part of the statement's text, which
 * repeats them for each term.
 */
const k1 = sql.raw('1.2::float8')
const b = sql.raw('0.75::float8')
