import { setTimeout } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from './database.ts'

/** Most dimensions that pgvector indexes in half precision. */
export const indexableDimensions = 4000

type Table = 'units' | 'memories'

/** Least effort of a search through the index; recall falls off below. */
const leastEffort = 100
/** What pgvector allows. */
const mostEffort = 1000
/**
 * The least effort finds 99 % of the ten nearest among so many vectors; what it takes to find 98 % of them among a
 * million is four times as much. Measured with vectors that lie as those of texts do (`pnpm bench hub`).
 */
const easilySearched = 100_000
const growth = 0.6

export const halfVector = (vector: SQL, dimensions: number): SQL =>
  sql`(${vector})::halfvec(${sql.raw(String(dimensions))})`

/** How many candidates a search looks at, as text: more in a larger table, by what Postgres knows of its size. */
const effortFor = (table: Table, limit: number): SQL => sql`(
  select least(${mostEffort}, greatest(${limit},
    ${leastEffort} * power(greatest(reltuples / ${easilySearched}, 1), ${growth})))::int::text
  from pg_class where oid = ${table}::regclass
)`

/**
 * A condition that holds for every row. Whoever puts it into a statement that reads one table by a vector index, at
 * most `limit` rows, gets as many whenever so many qualify: those that other conditions refuse are made up for by
 * walking on. It needs no transaction, and holds for the one statement.
 */
export const walkingIndex = (table: Table, limit: number): SQL => sql`(
  select set_config('hnsw.iterative_scan', 'relaxed_order', true) is not null
    and set_config('hnsw.ef_search', ${effortFor(table, limit)}, true) is not null
)`

/**
 * Runs a search whose rows come through a vector index, among them tables that are joined. Rows that a condition refuses are made up for by
 * walking on, so that the limit is reached whenever so many rows qualify.
 */
export function throughIndex<T>(
  database: Database,
  table: Table,
  limit: number,
  search: (transaction: Database) => Promise<T>,
): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.execute(
      // Sorting all rows is never the way: where a table is joined, Postgres thinks so at times.
      sql`
        select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_sort', 'off', true),
          set_config('hnsw.ef_search', ${effortFor(table, limit)}, true)`,
    )
    return search(transaction)
  })
}

/** Vectors of one length in one table. */
export interface VectorColumn {
  table: Table
  dimensions: number
}

const lockPauseMs = 50

async function tryToLock(database: Database): Promise<boolean> {
  const [row] = await rowsOf<{ locked: boolean }>(
    database,
    sql`select pg_try_advisory_lock(${indexLock}) as locked`,
  )
  return row?.locked === true
}

/** Hubs that start together make an index once: any number that nothing else uses. */
const indexLock = 727_002

/**
 * The index that makes search by vectors of this length fast in large memories. Tables hold vectors of any
 * length and an index only those of one, so it is made when the length is known. Writers go on meanwhile where
 * the database allows it.
 *
 * @param options.concurrently needs a database of one connection, whose statements may take minutes
 */
export async function createVectorIndex(
  database: Database,
  { table, dimensions }: VectorColumn,
  { concurrently }: { concurrently: boolean },
): Promise<void> {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > indexableDimensions) return
  const name = `${table}_embedding_${dimensions}`
  const create = `create index ${concurrently ? 'concurrently' : ''} if not exists ${name} on ${table}
    using hnsw ((embedding::halfvec(${dimensions})) halfvec_cosine_ops) where vector_dims(embedding) = ${dimensions}`
  if (!concurrently) {
    await database.execute(sql.raw(create))
    return
  }
  // Making the index waits for every statement that is under way, also for one that waits for the lock.
  while (!(await tryToLock(database))) await setTimeout(lockPauseMs)
  try {
    // Whoever made it was interrupted: it is there by name, and no search uses it.
    const [index] = await rowsOf<{ valid: boolean }>(
      database,
      sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`,
    )
    if (index && !index.valid) await database.execute(sql.raw(`drop index concurrently ${name}`))
    await database.execute(sql.raw(create))
  } finally {
    await database.execute(sql`select pg_advisory_unlock(${indexLock})`)
  }
}
