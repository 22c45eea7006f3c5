import { createWriteStream, existsSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { renamePatiently, syncFile, syncFolder } from '@recall/core/process'
import { asMemoryErrors, type Database, liftTimeLimit, rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { format, type Header, schemaOf, type Table, tables, version } from './format.ts'

/** Rows to read at a time. An entry may be megabytes. */
const rowsAtOnce = (table: Table): number => (table === 'entries' ? 20 : 500)

/**
 * Writes a backup into a new file.
 *
 * @returns rows by table
 * @throws MemoryError CONFLICT when the file exists, or another backup writes it; UNAVAILABLE when nothing can be
 * written there
 */
export async function backUpToFile(database: Database, path: string): Promise<Record<string, number>> {
  refuseExisting(path)
  const unfinished = `${path}.unfinished`
  const file = createUnfinished(unfinished)
  try {
    const counts = await writeBackup(database, createWriteStream(unfinished, { fd: file }))
    syncFile(unfinished)
    // Checked again: a file that somebody made there meanwhile would be lost.
    refuseExisting(path)
    renamePatiently(unfinished, path)
    syncFolder(dirname(path))
    return counts
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

/**
 * Writes everything that a hub keeps as gzipped JSON lines: a snapshot of the database at one moment, taken while the
 * hub runs. It holds hashes of the agents' keys, but memories in plain text. Its last line shows that it is complete.
 *
 * @returns rows by table
 * @throws MemoryError NOT_FOUND when the database does not belong to a hub; UNAVAILABLE when it cannot be read. What the
 * output throws is thrown as it is
 */
export async function writeBackup(database: Database, output: Writable): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  let unwritable: unknown
  const copy = async (transaction: Database): Promise<void> => {
    await liftTimeLimit(transaction)
    // All tables at once, before the first is read: tables that a migration rewrites in between would be empty in
    // this snapshot.
    await transaction.execute(sql`lock table ${allTables} in access share mode`)
    await refuseUnused(transaction)
    await pipeline(linesOf(transaction, counts), createGzip({ level }), output).catch((error: unknown) => {
      if (!isMemoryError(error)) unwritable = error
      throw error
    })
  }
  try {
    await read(() =>
      database.transaction(copy, { isolationLevel: 'repeatable read', accessMode: 'read only' }),
    )
  } catch (error) {
    throw unwritable ?? error
  }
  return counts
}

const read = <T>(call: () => Promise<T>): Promise<T> => asMemoryErrors(MemoryErrorCode.UNAVAILABLE, call)

const allTables = sql.join(
  [...tables.map((table) => sql.identifier(table)), sql`drizzle.__drizzle_migrations`],
  sql`, `,
)

/** Somebody who names the wrong database must not end up with a backup of nothing. */
async function refuseUnused(transaction: Database): Promise<void> {
  const [used] = await rowsOf(
    transaction,
    sql`select 1 from system_config union all select 1 from agents limit 1`,
  )
  if (used) return
  throw new MemoryError(
    'no hub has ever used this database: check which one the settings name',
    MemoryErrorCode.NOT_FOUND,
  )
}

/** The lines of a backup, which counts its rows as they are read. */
async function* linesOf(transaction: Database, counts: Record<string, number>): AsyncGenerator<string> {
  const header: Header = { format, version, schema: await read(() => schemaOf(transaction)) }
  yield `${JSON.stringify(header)}\n`
  for (const table of tables) {
    counts[table] = 0
    for await (const rows of rowsIn(transaction, table)) {
      counts[table] += rows.length
      // Joined, because packing a piece by itself costs as much as hundreds of rows.
      yield rows.map(({ row }) => `${table}\t${row}\n`).join('')
    }
  }
  yield `end\t${JSON.stringify(counts)}\n`
}

/** The digits of vectors hardly compress: the usual level takes three times as long and saves 7 %. */
const level = 3

/** The rows of a table as JSON, some at a time, within a transaction. */
async function* rowsIn(transaction: Database, table: Table): AsyncGenerator<{ row: string }[]> {
  const declare = sql`declare backup_rows no scroll cursor for
    select to_json(t)::text as row from ${sql.identifier(table)} t`
  await read(() => transaction.execute(declare))
  const fetch = sql`fetch ${sql.raw(String(rowsAtOnce(table)))} from backup_rows`
  for (;;) {
    const rows = await read(() => rowsOf<{ row: string }>(transaction, fetch))
    if (rows.length === 0) break
    yield rows
  }
  await read(() => transaction.execute(sql`close backup_rows`))
}

function refuseExisting(path: string): void {
  if (existsSync(path)) throw new MemoryError(`${path} exists: give another name`, MemoryErrorCode.CONFLICT)
}

function createUnfinished(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST')
      throw new MemoryError(
        `no backup can be written into ${dirname(path)} (${code}): check that this folder exists, and who may write there`,
        MemoryErrorCode.UNAVAILABLE,
        { cause: error },
      )
    throw new MemoryError(
      `${path} exists: another backup is being written, or one was killed: then delete that file and try again`,
      MemoryErrorCode.CONFLICT,
      { cause: error },
    )
  }
}
