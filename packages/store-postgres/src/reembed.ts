import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from './database.ts'
import { asMemoryErrors } from './postgres-errors.ts'

export interface ReembedOptions {
  /** Texts embedded at a time. Default 64. */
  batch?: number
  onProgress?: (progress: ReembedProgress) => void
  /** Stops between two batches; what was done so far is kept, and the next run goes on from there. */
  signal?: AbortSignal
}

export interface ReembedProgress {
  done: number
  /** Rows that had another model's vector when the run began. */
  total: number
}

/** A table with vectors: how to name a row, and what its vector is made of. */
const tables = {
  entries: {
    name: sql.raw('entries'),
    text: sql.raw('text'),
    same: sql.raw(`entries.place = (done ->> 'place')::uuid and entries.id = (done ->> 'id')::uuid`),
    place: sql.raw('place::text'),
    dimensions: sql.raw(', dimensions = vector_dims(next_embedding)'),
  },
  memories: {
    name: sql.raw('memories'),
    text: sql.raw('content'),
    same: sql.raw(`memories.id = (done ->> 'id')::uuid`),
    place: sql.raw('null'),
    dimensions: sql.raw(''),
  },
} as const

/**
 * Moves a table to another model while it is in use. Vectors of the new model are made beside the old ones, by
 * which searches go on; when every row has one, all are exchanged in one step. Interrupted, it goes on where it
 * stopped. Rows written meanwhile are caught up with.
 *
 * @returns how many vectors were made
 * @throws MemoryError CONFLICT when rows have a vector and no text to make another one of; what the embedder throws
 */
export async function reembed(
  database: Database,
  table: keyof typeof tables,
  embedder: Embedder,
  { batch = 64, onProgress, signal }: ReembedOptions = {},
): Promise<number> {
  const call = <T>(run: () => Promise<T>): Promise<T> => asMemoryErrors(MemoryErrorCode.WRITE_FAILED, run)
  const outdated = sql`embedding is not null and embedding_model <> ${embedder.model}::text`
  await call(() => refuseWithoutText(database, table, outdated))
  const total = await call(() => countRows(database, table, outdated))
  let done = 0
  for (;;) {
    signal?.throwIfAborted()
    const rows = await call(() => nextRows(database, table, embedder.model, outdated, batch))
    if (rows.length === 0) {
      if (await call(() => exchange(database, table, embedder.model, outdated))) return done
      continue
    }
    // No transaction is open while the embedder works.
    const vectors = await embedder.embed(
      rows.map(({ text }) => text),
      'document',
    )
    const made = rows.map(({ text: _, ...row }, i) => ({
      ...row,
      vector: JSON.stringify([...(vectors[i] ?? [])]),
    }))
    await call(() => keepBeside(database, table, embedder.model, made))
    done += rows.length
    onProgress?.({ done, total: Math.max(total, done) })
  }
}

interface OutdatedRow {
  place: string | null
  id: string
  text: string
  /** Of the text: a vector is not kept for a row that was rewritten meanwhile. */
  digest: string
}

const nextRows = (
  database: Database,
  table: keyof typeof tables,
  model: string,
  outdated: SQL,
  batch: number,
): Promise<OutdatedRow[]> => {
  const { name, text, place } = tables[table]
  return rowsOf(
    database,
    sql`
      select ${place} as place, id, ${text} as text, md5(${text}) as digest from ${name}
      where ${outdated} and next_embedding_model is distinct from ${model}::text limit ${batch}`,
  )
}

async function keepBeside(
  database: Database,
  table: keyof typeof tables,
  model: string,
  made: readonly (Omit<OutdatedRow, 'text'> & { vector: string })[],
): Promise<void> {
  const { name, text, same } = tables[table]
  await database.execute(sql`
    update ${name} set next_embedding = (done ->> 'vector')::vector, next_embedding_model = ${model}
    from jsonb_array_elements(${JSON.stringify(made)}::text::jsonb) as done
    where ${same} and md5(${text}) = done ->> 'digest'`)
}

/** Whether the exchange took place; not when rows were written since. Writers wait, readers do not. */
const exchange = (
  database: Database,
  table: keyof typeof tables,
  model: string,
  outdated: SQL,
): Promise<boolean> => {
  const { name, dimensions } = tables[table]
  return database.transaction(async (transaction) => {
    await transaction.execute(sql`lock table ${name} in share row exclusive mode`)
    const missing = sql`${outdated} and next_embedding_model is distinct from ${model}::text`
    if ((await countRows(transaction, table, missing)) > 0) return false
    await transaction.execute(sql`
      update ${name} set embedding = next_embedding, embedding_model = next_embedding_model,
        next_embedding = null, next_embedding_model = null${dimensions}
      where ${outdated}`)
    return true
  })
}

async function countRows(database: Database, table: keyof typeof tables, condition: SQL): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    database,
    sql`select count(*)::int as count from ${tables[table].name} where ${condition}`,
  )
  return row?.count ?? 0
}

async function refuseWithoutText(
  database: Database,
  table: keyof typeof tables,
  outdated: SQL,
): Promise<void> {
  const count = await countRows(database, table, sql`${outdated} and ${tables[table].text} = ''`)
  if (count === 0) return
  throw new MemoryError(
    `${count} entries have a vector and no text to make another one of: write them again with a text option, or delete them`,
    MemoryErrorCode.CONFLICT,
    { details: { count } },
  )
}
