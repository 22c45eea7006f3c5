import { MemoryError, MemoryErrorCode, type Spread, type StoreQuery, spreadOf } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { placeId } from './address.ts'
import { matchColumns, similarityTo, type UnitMatch, unitsOfEntries } from './candidates.ts'
import { inPlace, isLive, type Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { entries, placeSizes, units } from './schema/entries.ts'
import { halfVector, indexableDimensions, throughIndex } from './vector-index.ts'

type Embedding = NonNullable<StoreQuery['embedding']>

/**
 * Up to this many eligible units are compared one by one, which is exact and takes milliseconds. An approximate index
 * under a condition that few rows meet returns too few of them, or searches for long.
 */
const mostCompared = 5000

export interface NearMatch extends UnitMatch {
  similarity: number
}

export interface NearMatches {
  /** Nearest first. */
  rows: NearMatch[]
  /** The spread of the similarities over all eligible units. */
  spread: Spread
}

/** Whether there are so many eligible units that they have to be found through the index. */
export async function areMany(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  { vector }: Embedding,
): Promise<boolean> {
  if (vector.length > indexableDimensions) return false
  const [kept] = await rowsOf<{ units: number }>(
    database,
    sql`
      select coalesce(sum(${placeSizes.units}), 0)::float8 as units
      from ${placeSizes} where ${placeSizes.place} = ${placeId(query, shelf)}`,
  )
  if ((kept?.units ?? 0) <= mostCompared) return false
  const [counted] = await rowsOf<{ count: number }>(
    database,
    sql`
      select count(*)::int as count from (
        select from ${unitsOfEntries} where ${eligible} and ${entries.dimensions} = ${vector.length}
        limit ${mostCompared + 1}
      ) as some_units`,
  )
  return (counted?.count ?? 0) > mostCompared
}

/**
 * Finds the units nearest to the query's vector.
 *
 * @param literal the query's vector, as JSON
 * @param most limit of the result; the index is asked for a few thousand at most
 */
export function matchMeaning(
  database: Database,
  eligible: SQL,
  { vector, unrelated }: Embedding,
  literal: string,
  { most, many }: { most: number | null; many: boolean },
): Promise<NearMatches> {
  const comparable = sql`${eligible} and ${entries.dimensions} = ${vector.length} and ${units.embedding} is not null`
  return many
    ? nearestByIndex(database, comparable, vector.length, literal, most ?? mostCompared, unrelated)
    : nearestOfAll(database, comparable, literal, most, unrelated)
}

interface Measured {
  count: number
  sum: number
  squares: number
  best: number
}

const noneMeasured: Measured = { count: 0, sum: 0, squares: 0, best: -1 }

/** Aggregates over the rows of `compared`. */
const measures = sql`count(*)::float8 as count, coalesce(sum(similarity), 0)::float8 as sum,
  coalesce(sum(similarity ^ 2), 0)::float8 as squares, coalesce(max(similarity), -1)::float8 as best`

async function nearestOfAll(
  database: Database,
  comparable: SQL,
  literal: string,
  most: number | null,
  unrelated: Embedding['unrelated'],
): Promise<NearMatches> {
  const rows = await rowsOf<NearMatch & Measured>(
    database,
    sql`
      with compared as materialized (
        select ${matchColumns}, ${similarityTo(literal)} as similarity from ${unitsOfEntries} where ${comparable}
      )
      select compared.*, measured.* from compared, (select ${measures} from compared) as measured
      order by similarity desc, "updatedAt" desc, key collate "C", unit limit ${most}`,
  )
  return { rows, spread: spreadOf(rows[0] ?? noneMeasured, unrelated) }
}

/** The index holds vectors of half precision; the rows it finds are compared in full precision. */
async function nearestByIndex(
  database: Database,
  comparable: SQL,
  dimensions: number,
  literal: string,
  most: number,
  unrelated: Embedding['unrelated'],
): Promise<NearMatches> {
  const near = await throughIndex(database, 'units', most, (transaction) =>
    rowsOf<NearMatch>(
      transaction,
      sql`
        select ${matchColumns}, ${similarityTo(literal)} as similarity from ${unitsOfEntries}
        where ${comparable} and vector_dims(${units.embedding}) = ${sql.raw(String(dimensions))}
        order by ${halfVector(sql`${units.embedding}`, dimensions)} <=> ${halfVector(sql`${literal}::text::vector`, dimensions)}
        limit ${most}`,
    ),
  )
  // Among so many units, a sample tells the spread as well as all of them.
  const [sample = noneMeasured] = await rowsOf<Measured>(
    database,
    sql`
      select ${measures} from (
        select ${similarityTo(literal)} as similarity from ${unitsOfEntries} where ${comparable} limit ${sampleSize}
      ) as compared`,
  )
  const best = Math.max(sample.best, ...near.map(({ similarity }) => similarity))
  return {
    rows: near.sort((a, b) => b.similarity - a.similarity),
    spread: spreadOf({ ...sample, best }, unrelated),
  }
}

const sampleSize = 2000

/**
 * Refuses a query whose vector cannot be compared with the stored ones.
 *
 * @throws MemoryError CONFLICT for another model, INVALID_INPUT for another length
 */
export async function checkModel(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  { model, vector }: Embedding,
): Promise<void> {
  const length = sql`${entries.dimensions}`
  const stored = sql`${entries.embeddingModel}`
  // The index serves two ranges, but not an inequality.
  const otherModel =
    model === null ? sql`false` : sql`(${stored} < ${model}::text or ${stored} > ${model}::text)`
  const [other] = await rowsOf<{ model: string; dimensions: number }>(
    database,
    sql`
      select ${stored} as model, ${length} as dimensions from ${entries}
      where ${inPlace(query, shelf)} and ${stored} is not null and ${isLive(query.now)}
        and (${length} < ${vector.length} or ${length} > ${vector.length}
          or (${length} = ${vector.length} and ${otherModel}))
      limit 1`,
  )
  if (!other) return
  if (model !== null && other.model !== model) {
    throw new MemoryError(
      `the memory was embedded with ${other.model}, the query with ${model}: re-embed the memory`,
      MemoryErrorCode.CONFLICT,
      { scope: query.scope },
    )
  }
  throw new MemoryError(
    `the query vector has ${vector.length} dimensions, the stored ones have ${other.dimensions}`,
    MemoryErrorCode.INVALID_INPUT,
    { scope: query.scope },
  )
}
