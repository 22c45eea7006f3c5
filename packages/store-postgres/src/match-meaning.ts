import { MemoryError, MemoryErrorCode, type Spread, type StoreQuery, spreadOf } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { inPlace, isLive, type Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { type CandidateRow, candidateColumns } from './match-words.ts'
import { storableVector } from './rows.ts'
import { entries } from './schema/entries.ts'
import { halfVector, indexableDimensions, throughIndex } from './vector-index.ts'

type Embedding = NonNullable<StoreQuery['embedding']>

/**
 * Up to this many eligible rows are compared one by one, which is exact and takes milliseconds. An approximate
 * index that is asked for few rows among many returns too few or walks for long.
 */
const mostCompared = 5000

export interface NearMatch extends CandidateRow {
  /** Cosine, -1..1. */
  similarity: number
}

export interface NearMatches {
  rows: NearMatch[]
  /** How the similarities of all eligible entries are spread. */
  spread: Spread
}

/** The nearest entries, at least `wanted` of them where so many are eligible. */
export async function matchMeaning(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  embedding: Embedding,
  wanted: number,
): Promise<NearMatches> {
  const vector = storableVector(embedding.vector)
  await checkModel(database, query, shelf, embedding)
  const comparable = sql`${eligible} and ${entries.dimensions} = ${vector.length}`
  const literal = JSON.stringify(vector)
  const byIndex = vector.length <= indexableDimensions && (await exceeds(database, comparable, mostCompared))
  const rows = byIndex
    ? await nearestByIndex(database, comparable, literal, vector.length, wanted)
    : await nearestOfAll(database, comparable, literal)
  const seen = byIndex ? await sampled(database, comparable, literal) : measured(rows)
  const best = Math.max(-1, ...rows.map(({ similarity }) => similarity))
  return { rows, spread: spreadOf({ ...seen, best }, embedding.unrelated) }
}

interface Measured {
  count: number
  sum: number
  squares: number
}

function measured(rows: readonly NearMatch[]): Measured {
  let sum = 0
  let squares = 0
  for (const { similarity } of rows) {
    sum += similarity
    squares += similarity ** 2
  }
  return { count: rows.length, sum, squares }
}

/** Of so many entries that the index is used, some thousand tell the spread as well as all. */
async function sampled(database: Database, comparable: SQL, literal: string): Promise<Measured> {
  const [row] = await rowsOf<Measured>(
    database,
    sql`
      select count(*)::float8 as count, sum(similarity) as sum, sum(similarity ^ 2) as squares
      from (select ${similarityTo(literal)} from ${entries} where ${comparable} limit ${mostCompared}) as some_entries`,
  )
  return row ?? { count: 0, sum: 0, squares: 0 }
}

/** A vector of zeros is similar to nothing. */
const similarityTo = (literal: string): SQL =>
  sql`coalesce(nullif(1 - (${entries.embedding} <=> ${literal}::text::vector), 'NaN'), 0) as similarity`

const nearestOfAll = (database: Database, comparable: SQL, literal: string): Promise<NearMatch[]> =>
  rowsOf(
    database,
    sql`select ${candidateColumns}, ${similarityTo(literal)} from ${entries} where ${comparable}`,
  )

/** The index holds vectors of half precision; what it finds is compared in full. */
function nearestByIndex(
  database: Database,
  comparable: SQL,
  literal: string,
  dimensions: number,
  wanted: number,
): Promise<NearMatch[]> {
  const pool = Math.max(100, 2 * wanted)
  return throughIndex(database, pool, (transaction) =>
    rowsOf(
      transaction,
      sql`
        select ${candidateColumns}, ${similarityTo(literal)} from ${entries}
        where ${comparable} and vector_dims(${entries.embedding}) = ${sql.raw(String(dimensions))}
        order by ${halfVector(sql`${entries.embedding}`, dimensions)} <=> ${halfVector(sql`${literal}::text::vector`, dimensions)}
        limit ${pool}`,
    ),
  )
}

async function exceeds(database: Database, condition: SQL, most: number): Promise<boolean> {
  const rows = await rowsOf<{ count: number }>(
    database,
    sql`select count(*)::int as count from (select from ${entries} where ${condition} limit ${most + 1}) as counted`,
  )
  return (rows[0]?.count ?? 0) > most
}

/**
 * Vectors of two models say nothing about each other.
 *
 * @throws MemoryError CONFLICT for another model, INVALID_INPUT for another length
 */
async function checkModel(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  { model, vector }: Embedding,
): Promise<void> {
  const length = sql`${entries.dimensions}`
  const stored = sql`${entries.embeddingModel}`
  // Two ranges are found in the index, inequality is not.
  const otherModel =
    model === null ? sql`false` : sql`(${stored} < ${model}::text or ${stored} > ${model}::text)`
  const [other] = await rowsOf<{ model: string; dimensions: number }>(
    database,
    sql`
      select ${stored} as model, ${length} as dimensions from ${entries}
      where ${inPlace(query, shelf)} and ${entries.embedding} is not null and ${isLive(query.now)}
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
