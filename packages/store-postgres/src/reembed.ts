import { type Embedder, MemoryError, MemoryErrorCode, refusesText } from '@recall/core'
import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from './engines/database.ts'
import { asMemoryErrors } from './engines/postgres-errors.ts'
import { liftTimeLimit } from './engines/time-limit.ts'
import { type OutdatedRow, type RowVectors, type VectorTable, vectorTables } from './vector-tables.ts'

export interface ReembedOptions {
  /** Rows embedded at a time. Default 64. */
  batch?: number | undefined
  onProgress?: ((progress: ReembedProgress) => void) | undefined
  /** Stops between two batches. Finished batches are kept, and the next run continues from there. */
  signal?: AbortSignal | undefined
}

export interface ReembedProgress {
  done: number
  /** Rows that had a vector of another model when the run began. */
  total: number
}

/**
 * Moves a table to another model while it is in use. New vectors are stored next to the old ones, which searches
 * continue to use; when every row has a new one, all are exchanged in one step. Rows written meanwhile are included. An
 * interrupted run continues where it stopped. Concurrent runs with different models cannot undo each other's work for
 * ever: at most one continues, the others throw.
 *
 * @returns how many rows got new vectors
 * @throws MemoryError CONFLICT when rows have a vector but no text to embed, when another run uses another model, and,
 * once all other rows have new vectors, when the embedder refuses texts; also what the embedder throws
 */
export async function reembed(
  database: Database,
  table: keyof typeof vectorTables,
  embedder: Embedder,
  { batch = 64, onProgress, signal }: ReembedOptions = {},
): Promise<number> {
  const call = <T>(run: () => Promise<T>): Promise<T> => asMemoryErrors(MemoryErrorCode.WRITE_FAILED, run)
  const vectors = vectorTables[table]
  const { model } = embedder
  const total = await call(() =>
    unhurried(database, async (transaction) => {
      await refuseWithoutText(transaction, vectors, model)
      // Removes vectors that an abandoned run left. Any that appear later belong to a run in progress.
      await transaction.execute(vectors.dropOthers(model))
      return countRows(transaction, vectors, model)
    }),
  )
  let done = 0
  let last: OutdatedRow | undefined
  const refused: Refused[] = []
  for (;;) {
    signal?.throwIfAborted()
    const rows = await call(() => rowsOf<OutdatedRow>(database, vectors.next(model, batch, last ?? null)))
    const isThrough = rows.length === 0
    if (isThrough && refused.length > 0) throw textsRefused(refused, model)
    if (isThrough && last === undefined && (await call(() => exchange(database, vectors, model)))) return done
    // At the end, starts over, because rows may have been written meanwhile.
    last = rows.at(-1)
    if (isThrough) continue
    const other = rows.find(({ beside }) => beside !== null)?.beside
    if (other) throw underWay(other)
    // No transaction stays open while the embedder works.
    const made = await embedRows(rows, vectors, embedder)
    await call(() => database.execute(vectors.keepBeside(model, made.vectors)))
    refused.push(...made.refused)
    done += rows.length - made.refused.length
    onProgress?.({ done, total: Math.max(total, done) })
  }
}

const underWay = (model: string): MemoryError =>
  new MemoryError(
    `another run makes vectors of '${model}': stop it, or let it finish, and run this one again`,
    MemoryErrorCode.CONFLICT,
    { details: { model } },
  )

interface Refused {
  row: OutdatedRow
  error: MemoryError
}

/** Most rows that an error names. */
const mostNamed = 5

function textsRefused(refused: readonly Refused[], model: string): MemoryError {
  const names = refused.slice(0, mostNamed).map(({ row }) => row.name)
  if (refused.length > mostNamed) names.push('…')
  const cause = refused[0]?.error
  return new MemoryError(
    `'${model}' refuses ${refused.length} texts (${cause?.message}), of ${names.join(', ')}: all others have their new vectors, and the old ones are still in use; shorten or delete these, or use a model that reads longer texts, and run this again`,
    MemoryErrorCode.CONFLICT,
    { cause, details: { count: refused.length } },
  )
}

/**
 * New vectors. A refused text fails the whole call without saying which one it is, so each row is then embedded alone.
 */
async function embedRows(
  rows: readonly OutdatedRow[],
  vectors: Pick<VectorTable, 'textsOf' | 'embed'>,
  embedder: Embedder,
): Promise<{ vectors: RowVectors[]; refused: Refused[] }> {
  try {
    return { vectors: await vectorsOf(rows, vectors, embedder), refused: [] }
  } catch (error) {
    const [row] = rows
    if (!row || !refusesText(error)) throw error
    if (rows.length === 1) return { vectors: [], refused: [{ row, error }] }
    const each: Awaited<ReturnType<typeof embedRows>>[] = []
    for (const one of rows) each.push(await embedRows([one], vectors, embedder))
    return { vectors: each.flatMap((one) => one.vectors), refused: each.flatMap((one) => one.refused) }
  }
}

async function vectorsOf(
  rows: readonly OutdatedRow[],
  { textsOf, embed }: Pick<VectorTable, 'textsOf' | 'embed'>,
  embedder: Embedder,
): Promise<RowVectors[]> {
  const parts = rows.flatMap((row) => textsOf(row).map((text, unit) => ({ row, unit, text })))
  const vectors = await embed(
    embedder,
    parts.map(({ text }) => text),
    'document',
  )
  return parts.map(({ row: { place, id, digest }, unit }, i) => {
    return { place, id, digest, unit, vector: JSON.stringify([...(vectors[i] ?? [])]) }
  })
}

/**
 * Exchanges the vectors. Meanwhile writers wait, and readers do not. The lock also keeps out transactions that only
 * lock a row to change it later: they would wait for the table, and the exchange for their row.
 *
 * @returns `false`, without a change, when rows still lack a vector because they were written meanwhile
 */
const exchange = (database: Database, vectors: VectorTable, model: string): Promise<boolean> =>
  unhurried(database, async (transaction) => {
    await transaction.execute(sql`lock table ${vectors.locked} in exclusive mode`)
    const [left] = await rowsOf<{ any: boolean }>(
      transaction,
      sql`select exists (${vectors.missing(model)}) as any`,
    )
    if (left?.any) return false
    for (const statement of vectors.exchange(model)) await transaction.execute(statement)
    return true
  })

/** Runs statements that change every row: each row enters the vector index again, which takes minutes for many rows. */
const unhurried = <T>(database: Database, run: (transaction: Database) => Promise<T>): Promise<T> =>
  database.transaction(async (transaction) => {
    await liftTimeLimit(transaction)
    return run(transaction)
  })

async function countRows(
  database: Database,
  { name, outdated }: VectorTable,
  model: string,
  condition = sql`true`,
): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    database,
    sql`select count(*)::int as count from ${name} where ${outdated(model)} and ${condition}`,
  )
  return row?.count ?? 0
}

async function refuseWithoutText(database: Database, vectors: VectorTable, model: string): Promise<void> {
  const count = await countRows(database, vectors, model, sql`${vectors.text} = ''`)
  if (count === 0) return
  throw new MemoryError(
    `${count} entries have a vector and no text to make another one from: write them again with a text option, or delete them`,
    MemoryErrorCode.CONFLICT,
    { details: { count } },
  )
}
