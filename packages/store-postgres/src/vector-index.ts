import { type SQL, sql } from 'drizzle-orm'
import type { Database } from './database.ts'

/** Most dimensions that pgvector indexes in half precision. */
export const indexableDimensions = 4000

/** Least effort of a search through the index; recall falls off below. */
const leastEffort = 100
/** What pgvector allows. */
const mostEffort = 1000

export const halfVector = (vector: SQL, dimensions: number): SQL =>
  sql`(${vector})::halfvec(${sql.raw(String(dimensions))})`

/**
 * Runs a search whose rows come through a vector index. Rows that a condition refuses are made up for by
 * walking on, so that the limit is reached whenever so many rows qualify.
 */
export function throughIndex<T>(
  database: Database,
  limit: number,
  search: (transaction: Database) => Promise<T>,
): Promise<T> {
  const effort = Math.min(mostEffort, Math.max(leastEffort, limit))
  return database.transaction(async (transaction) => {
    await transaction.execute(
      // Sorting all rows is never the way: where a table is joined, Postgres thinks so at times.
      sql`
        select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_sort', 'off', true),
          set_config('hnsw.ef_search', ${String(effort)}, true)`,
    )
    return search(transaction)
  })
}

/**
 * The index that makes search by vectors of this length fast in large memories. Tables hold vectors of any
 * length and an index only those of one, so it is made when the length is known. Writers go on meanwhile where
 * the database allows it.
 */
export async function createVectorIndex(
  database: Database,
  table: 'units' | 'memories',
  dimensions: number,
  { concurrently = true }: { concurrently?: boolean } = {},
): Promise<void> {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > indexableDimensions) return
  const name = `${table}_embedding_${dimensions}`
  await database.execute(
    sql.raw(
      `create index ${concurrently ? 'concurrently' : ''} if not exists ${name} on ${table} ` +
        `using hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops) where vector_dims(embedding) = ${dimensions}`,
    ),
  )
}
