import { setTimeout } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, isEmbedded, rowsOf } from '../engines/database.ts'
import { memoryQuality } from '../schema/hub.ts'

/** Most dimensions that pgvector indexes in half precision, and in full. */
export const indexableDimensions = 4000
const fullyIndexable = 2000

/**
 * The indexes of each table, and the rows that each holds. Every row is in one of them. Good memories have their own
 * index: a walk through it never has to get past a flood of others on the same subject.
 */
const indexes = {
  units: { units: 'true' },
  memories: {
    good_memories: `quality = ${memoryQuality.good}`,
    low_memories: `quality < ${memoryQuality.good} and not crowded`,
    crowded_memories: `quality < ${memoryQuality.good} and crowded`,
  },
} as const

/** Names the vector index of some rows, whatever the length of the vectors. */
export type VectorIndex = keyof typeof indexes.units | keyof typeof indexes.memories

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

/**
 * The type in which vectors are indexed. A server compares half-precision vectors as fast, and holds twice as many in
 * memory; PGlite, which has no instructions for them, takes six times as long to add one.
 */
export const indexedType = (database: Database, dimensions: number): 'halfvec' | 'vector' =>
  isEmbedded(database) && dimensions <= fullyIndexable ? 'vector' : 'halfvec'

/** SQL for a vector as it is indexed. */
export const indexedVector = (vector: SQL, type: 'halfvec' | 'vector', dimensions: number): SQL =>
  sql`(${vector})::${sql.raw(type)}(${sql.raw(String(dimensions))})`

const nameOf = (index: string, dimensions: number): string => `${index}_embedding_${dimensions}`

/** The names of the indexes that `createVectorIndexes` makes. */
export const vectorIndexNames = ({ table, dimensions }: VectorColumn): string[] =>
  Object.keys(indexes[table]).map((index) => nameOf(index, dimensions))

/** SQL for `hnsw.ef_search`: it grows with the size of the index, as Postgres estimates it. */
const effortFor = (index: VectorIndex, dimensions: number, limit: number): SQL => sql`
  coalesce((
    select least(${mostEffort}, greatest(${limit},
      ${leastEffort} * power(greatest(reltuples / ${easilySearched}, 1), ${growth})))::int::text
    from pg_class where oid = to_regclass(${nameOf(index, dimensions)})
  ), ${String(mostEffort)})`

/**
 * A condition that is always true, and configures the index scan of its statement. A statement that reads one table
 * through a vector index, with at most `limit` rows, then walks on past rows that other conditions reject. It needs no
 * transaction, and affects only its statement.
 */
export const walkingIndex = (index: VectorIndex, dimensions: number, limit: number): SQL => sql`(
  select set_config('hnsw.iterative_scan', 'relaxed_order', true) is not null
    and set_config('hnsw.ef_search', ${effortFor(index, dimensions, limit)}, true) is not null
)`

/**
 * Runs a search through the vector index of units that may join other tables. The scan continues past rows that a
 * condition rejects, until it has `limit` rows or gives up.
 */
export function throughIndex<T>(
  database: Database,
  dimensions: number,
  limit: number,
  search: (transaction: Database) => Promise<T>,
): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.execute(
      // Sorting is off: for a join the planner sometimes prefers to sort all rows, which is never faster.
      sql`
        select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_sort', 'off', true),
          set_config('hnsw.ef_search', ${effortFor('units', dimensions, limit)}, true)`,
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
 * Key of the advisory lock for making indexes, so that hubs that start together make each once; any number not used
 * otherwise.
 */
const indexLock = 727_002

/**
 * Creates the indexes that make search by vectors of one length fast in large tables. A table holds vectors of any
 * length, but an index only those of one length, so indexes are created when the length is known. Does nothing for
 * lengths that pgvector cannot index.
 *
 * @param options.concurrently lets writers continue meanwhile. Needs a database with one connection and no statement
 * timeout
 */
export async function createVectorIndexes(
  database: Database,
  { table, dimensions }: VectorColumn,
  { concurrently }: { concurrently: boolean },
): Promise<void> {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > indexableDimensions) return
  const manner = concurrently ? 'concurrently' : ''
  const type = indexedType(database, dimensions)
  // Polls, because creating an index waits for all running statements, including one that waits for this lock.
  while (concurrently && !(await tryToLock(database))) await setTimeout(lockPauseMs)
  try {
    for (const [index, rows] of Object.entries(indexes[table])) {
      const name = nameOf(index, dimensions)
      // No search uses the invalid index of an interrupted run.
      const [known] = await rowsOf<{ valid: boolean }>(
        database,
        sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`,
      )
      if (known?.valid) continue
      if (known) await database.execute(sql.raw(`drop index ${manner} ${name}`))
      await database.execute(
        sql.raw(`create index ${manner} ${name} on ${table}
          using hnsw ((embedding::${type}(${dimensions})) ${type}_cosine_ops)
          where vector_dims(embedding) = ${dimensions} and ${rows}`),
      )
    }
  } finally {
    if (concurrently) await database.execute(sql`select pg_advisory_unlock(${indexLock})`)
  }
}
