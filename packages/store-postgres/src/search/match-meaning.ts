import { everything, type Filter, MemoryError, MemoryErrorCode, type StoreQuery } from '@recall/core'
import { type Spread, spreadOf } from '@recall/core/ranking'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from '../entries/address.ts'
import { inPlace, isLive } from '../entries/conditions.ts'
import type { Shelf } from '../entries/shelf.ts'
import { storableVector } from '../entries/storable-vector.ts'
import { entries, placeSizes, units } from '../schema/entries.ts'
import { entriesWithUnits, matchColumns, similarityTo, type UnitMatch, unitsOfEntries } from './candidates.ts'
import { indexableDimensions, indexedType, indexedVector, throughIndex } from './vector-index.ts'

type Embedding = NonNullable<StoreQuery['embedding']>

/**
 * Up to this many eligible units are compared one by one, which is exact and takes milliseconds. A walk through an
 * approximate index under a condition that few rows meet takes long, or gives up.
 */
const mostCompared = 5000

/** After this many rows, a walk through an index gives up; the default of pgvector's `hnsw.max_scan_tuples`. */
const mostWalked = 20_000

export interface NearMatch extends UnitMatch {
  similarity: number
}

export interface NearMatches {
  /** Nearest first. */
  rows: NearMatch[]
  /** The spread of the similarities over all eligible units. */
  spread: Spread
}

/** What a search by meaning compares. */
interface Comparison {
  database: Database
  /** SQL for the units that may be found. */
  comparable: SQL
  vector: readonly number[]
  /** The vector as JSON. */
  literal: string
  unrelated: Embedding['unrelated']
}

/**
 * Finds the units nearest to the query's vector: through the index when there are many, otherwise by comparing each.
 *
 * @param most limit of the result; `null` for a few thousand, or all where their vectors are too long for an index
 */
export async function matchMeaning(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  { vector, unrelated }: Embedding,
  most: number | null,
): Promise<NearMatches> {
  const comparison = {
    database,
    comparable: sql`${eligible} and ${entries.dimensions} = ${vector.length} and ${units.embedding} is not null`,
    vector,
    literal: JSON.stringify(storableVector(vector)),
    unrelated,
  }
  if (vector.length > indexableDimensions) return (await compareAll(comparison, most)).near
  const limit = most ?? mostCompared
  const { kept, inTable } = await sizes(database, query, shelf)
  const isWorthAWalk = kept > mostCompared && (kept / inTable) * mostWalked >= limit
  if (!isWorthAWalk) return (await compareAll(comparison, limit)).near
  if (hasConditions(query)) {
    const { near, compared } = await compareAll(comparison, limit, mostCompared + 1)
    if (compared <= mostCompared) return near
  }
  const near = await nearestByIndex(comparison, limit)
  // The walk gave up: hardly any near unit matches the conditions.
  return near.rows.length < limit ? (await compareAll(comparison, limit)).near : near
}

const hasConditions = ({ filter = everything, tags = [] }: StoreQuery): boolean =>
  tags.length > 0 || !takesAll(filter)

const takesAll = (filter: Filter): boolean => filter.kind === 'all' && filter.filters.every(takesAll)

/** How many units a place holds, expired ones included, and how many the table holds, as Postgres estimates. */
async function sizes(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
): Promise<{ kept: number; inTable: number }> {
  const [row] = await rowsOf<{ kept: number; inTable: number }>(
    database,
    sql`
      select kept, greatest(1, kept, reltuples)::float8 as "inTable"
      from pg_class, (
        select coalesce(sum(${placeSizes.units}), 0)::float8 as kept
        from ${placeSizes} where ${placeSizes.place} = ${placeId(query, shelf)}
      ) as place
      where pg_class.oid = 'units'::regclass`,
  )
  return row ?? { kept: 0, inTable: 1 }
}

interface Measured {
  count: number
  sum: number
  squares: number
}

const noneMeasured: Measured = { count: 0, sum: 0, squares: 0 }

/** Aggregates over the rows of `compared`. */
const measures = sql`count(*)::float8 as count, coalesce(sum(similarity), 0)::float8 as sum,
  coalesce(sum(similarity ^ 2), 0)::float8 as squares`

/**
 * Compares units one by one. They are measured once, whatever the planner believes: when it expects a single unit, it
 * would measure all of them again for each.
 *
 * @param mostUnits compares any units, up to this many; `null` for all
 * @returns the nearest, and how many were compared
 */
async function compareAll(
  { database, comparable, literal, unrelated }: Comparison,
  most: number | null,
  mostUnits: number | null = null,
): Promise<{ near: NearMatches; compared: number }> {
  const rows = await rowsOf<NearMatch & Measured>(
    database,
    sql`
      with compared as materialized (
        select ${matchColumns}, ${similarityTo(literal)} as similarity from ${entriesWithUnits}
        where ${comparable} limit ${mostUnits}
      ), measured as materialized (select ${measures} from compared)
      select compared.*, measured.* from compared, measured
      order by similarity desc, "updatedAt" desc, key collate "C", unit limit ${most}`,
  )
  const measured = rows[0] ?? noneMeasured
  return { near: { rows, spread: spreadOf(measured, unrelated) }, compared: measured.count }
}

/** The index may hold vectors of half precision; the rows it finds are compared in full precision. */
async function nearestByIndex(
  { database, comparable, vector, literal, unrelated }: Comparison,
  most: number,
): Promise<NearMatches> {
  const type = indexedType(database, vector.length)
  const near = await throughIndex(database, vector.length, most, (transaction) =>
    rowsOf<NearMatch>(
      transaction,
      sql`
        select ${matchColumns}, ${similarityTo(literal)} as similarity from ${unitsOfEntries}
        where ${comparable} and vector_dims(${units.embedding}) = ${sql.raw(String(vector.length))}
        order by ${indexedVector(sql`${units.embedding}`, type, vector.length)}
          <=> ${indexedVector(sql`${literal}::text::vector`, type, vector.length)}
        limit ${most}`,
    ),
  )
  // Among so many units, a sample tells the spread as well as all of them.
  const [sample = noneMeasured] = await rowsOf<Measured>(
    database,
    sql`
      select ${measures} from (
        select ${similarityTo(literal)} as similarity from ${entriesWithUnits} where ${comparable} limit ${sampleSize}
      ) as compared`,
  )
  return {
    rows: near.sort((a, b) => b.similarity - a.similarity),
    spread: spreadOf(sample, unrelated),
  }
}

const sampleSize = 2000

/**
 * Refuses a query whose vector cannot be compared with the stored ones.
 *
 * @throws MemoryError CONFLICT when one of them is of another model, INVALID_INPUT when all are of another length
 */
export async function checkVectors(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  { model, vector }: Embedding,
): Promise<void> {
  const length = sql`${entries.dimensions}`
  const stored = sql`${entries.embeddingModel}`
  const findOne = async (condition: SQL) => {
    const [row] = await rowsOf<{ key: string; model: string; dimensions: number }>(
      database,
      sql`
        select ${entries.key} as key, ${stored} as model, ${length} as dimensions from ${entries}
        where ${inPlace(query, shelf)} and ${stored} is not null and ${isLive(query.now)} and ${condition}
        limit 1`,
    )
    return row
  }
  // The index serves two ranges, but not an inequality.
  const isOtherLength = sql`(${length} < ${vector.length} or ${length} > ${vector.length})`
  const isLength = sql`${length} = ${vector.length}`
  const isOtherModel =
    model === null ? sql`false` : sql`(${stored} < ${model}::text or ${stored} > ${model}::text)`
  const other = await findOne(sql`(${isOtherLength} or (${isLength} and ${isOtherModel}))`)
  if (!other) return
  if (model !== null) {
    const foreign = other.model === model ? await findOne(isOtherModel) : other
    if (foreign) {
      throw new MemoryError(
        `the memory was embedded with ${foreign.model}, the query with ${model}: move it with 'reembed' of @recall/store-postgres, or write its entries again`,
        MemoryErrorCode.CONFLICT,
        { scope: query.scope },
      )
    }
  }
  if (await findOne(isLength)) return
  throw new MemoryError(
    `the query vector has ${vector.length} dimensions, that of '${other.key}' has ${other.dimensions}, and no entry has as many as the query: give all entries of a scope vectors of one length`,
    MemoryErrorCode.INVALID_INPUT,
    { scope: query.scope, key: other.key },
  )
}
