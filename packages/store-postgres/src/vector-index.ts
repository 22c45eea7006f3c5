import { setTimeout } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from './database.ts'

/** Most dimensions that pgvector indexes in half precision. */
export const indexableDimensions = 4000

/** Smallest `hnsw.ef_search`; recall falls off below. */
const leastEffort = 100
/** The largest value that pgvector allows. */
const mostEffort = 1000
/**
 * With this many vectors, the least effort finds 99 % of the ten nearest. With a million, four and a half times the
 * effort does. Measured with vectors distributed like those of texts (`pnpm bench hub`).
 */
const easilySearched = 100_000
const growth = 0.65

export const halfVector = (vector: SQL, dimensions: number): SQL =>
  sql`(${vector})::halfvec(${sql.raw(String(dimensions))})`

/** SQL for `hnsw.ef_search`: it grows with the size of the table, as Postgres estimates it. */
const effortFor = (table: VectorColumn['table'], limit: number): SQL => sql`(
  select least(${mostEffort}, greatest(${limit},
    ${leastEffort} * power(greatest(reltuples / ${easilySearched}, 1), ${growth})))::int::text
  from pg_class where oid = ${table}::regclass
)`

/**
 * A condition that is always true, and configures the index scan of its statement. A statement that reads one table
 * through a vector index, with at most `limit` rows, then gets that many if they exist: the scan continues past rows
 * that other conditions reject. It needs no transaction, and affects only its statement.
 */
export const walkingIndex = (table: VectorColumn['table'], limit: number): SQL => sql`(
  select set_config('hnsw.iterative_scan', 'relaxed_order', true) is not null
    and set_config('hnsw.ef_search', ${effortFor(table, limit)}, true) is not null
)`

/**
 * Runs a search through a vector index that may join other tables. The scan continues past rows that a condition
 * rejects, so the search gets `limit` rows if they exist.
 */
export function throughIndex<T>(
  database: Database,
  table: VectorColumn['table'],
  limit: number,
  search: (transaction: Database) => Promise<T>,
): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.execute(
      // Sorting is off: for a join the planner sometimes prefers to sort all rows, which is never faster.
      sql`
        select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_sort', 'off', true),
          set_config('hnsw.ef_search', ${effortFor(table, limit)}, true)`,
    )
    return search(transaction)
  })
}

/** The vectors of one length in a table. */
export interface VectorColumn {
  table: 'units' | 'memories'
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

/**
 * Key of the advisory lock for making indexes, so that hubs that start together make each once; any otherwise unused
 * number.
 */
const indexLock = 727_002

/**
 * Creates the index that makes search by vectors of one length fast in large tables. A table holds vectors of any
 * length, and an index those of one, so it is created when the length is known. Does nothing for lengths that
 * pgvector cannot index.
 *
 * @param options.concurrently lets writers go on meanwhile. Needs a database of one connection without a statement
 * timeout
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
  // Polls, because creating the index waits for all running statements, including one that waits for this lock.
  while (!(await tryToLock(database))) await setTimeout(lockPauseMs)
  try {
    // An interrupted run left an invalid index: it has the name, but no search uses it.
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
