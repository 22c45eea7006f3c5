import { createReadStream, existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { asMemoryErrors, type Database, liftTimeLimit, rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { format, type Header, schemaOf, tables, version } from './format.ts'

/** The most that one statement restores. A longer row is restored alone. */
const mostRestored = { rows: 500, characters: 4 * 1024 * 1024 }

/**
 * Fills an empty database from a backup: all of it, or nothing.
 *
 * @returns rows by table
 * @throws MemoryError CONFLICT when the database holds data; CORRUPTION when the file is not a complete backup;
 * NOT_SUPPORTED when the backup comes from another version of the tables; NOT_FOUND when there is no such file;
 * WRITE_FAILED when the database refuses a row
 */
export async function restoreFromFile(database: Database, path: string): Promise<Record<string, number>> {
  if (!existsSync(path)) throw new MemoryError(`there is no file ${path}`, MemoryErrorCode.NOT_FOUND)
  return readBackup(database, () => createReadStream(path), path)
}

/**
 * Like `restoreFromFile`, from a stream.
 *
 * @param open returns the stream, and a new one when Postgres rolled the restore back because others were in the way
 * @param name the name of the stream in errors
 */
export async function readBackup(
  database: Database,
  open: () => Readable,
  name: string,
): Promise<Record<string, number>> {
  const refill = async (transaction: Database): Promise<Record<string, number>> => {
    await liftTimeLimit(transaction)
    // Writers have to wait: what they write would be added to the backup, with vectors of another model.
    await transaction.execute(sql`lock table agents, memories, entries in exclusive mode`)
    await refuseUnlessEmpty(transaction)
    // A hub that started on this database has written its own rows; those of the backup replace them.
    await transaction.execute(sql`delete from system_config`)
    await transaction.execute(sql`delete from store_settings`)
    const counts = await fill(transaction, open(), name)
    await transaction.execute(
      sql`select setval(pg_get_serial_sequence('entries', 'version'), (select max(version) from entries))`,
    )
    return counts
  }
  return asMemoryErrors(MemoryErrorCode.WRITE_FAILED, () => database.transaction(refill))
}

async function fill(transaction: Database, input: Readable, name: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(tables.map((table) => [table, 0]))
  /** Written after all memories, because memories may refer to each other in any order. */
  const duplicates: { id: string; of: string }[] = []
  let end: string | undefined
  /**
   * Why rows were refused. Reported only after everything is read: if the file is damaged, its end shows that, which
   * explains the refusal.
   */
  let refusal: unknown
  const take = async ({ table, rows }: Batch): Promise<void> => {
    const own = table === 'memories' ? rows.map((row) => withoutDuplicate(row, duplicates)) : rows
    await insert(transaction, table, own)
    counts[table] = (counts[table] ?? 0) + rows.length
  }
  for await (const batch of batchesOf(unpacked(input, name))) {
    if (batch.table === 'header') await checkHeader(transaction, batch.rows[0] ?? '')
    else if (batch.table === 'end') end = batch.rows[0]
    else if (!(tables as readonly string[]).includes(batch.table)) throw damaged(name)
    else if (refusal === undefined) {
      await take(batch).catch((error: unknown) => {
        refusal = error
      })
    }
  }
  if (refusal !== undefined) throw refusal
  if (end !== JSON.stringify(counts)) throw damaged(name)
  await transaction.execute(sql`
    update memories set duplicate_of = (d ->> 'of')::uuid
    from jsonb_array_elements(${JSON.stringify(duplicates)}::text::jsonb) as d where memories.id = (d ->> 'id')::uuid`)
  return counts
}

interface Batch {
  /** `header` for the first line, which names none, and `end` for the last. */
  table: string
  rows: string[]
}

/** Consecutive rows of one table, as many as one statement may take. */
async function* batchesOf(lines: AsyncIterable<string>): AsyncGenerator<Batch> {
  let batch: Batch | undefined
  let characters = 0
  for await (const line of lines) {
    const [table, row] = batch === undefined ? ['header', line] : splitLine(line)
    characters += row.length
    const isRoom = batch && batch.rows.length < mostRestored.rows && characters <= mostRestored.characters
    if (batch?.table === table && isRoom) batch.rows.push(row)
    else {
      if (batch) yield batch
      batch = { table, rows: [row] }
      characters = row.length
    }
  }
  if (batch) yield batch
}

/** The table and the row of a line. */
function splitLine(line: string): [table: string, row: string] {
  const tab = line.indexOf('\t')
  return [line.slice(0, tab), line.slice(tab + 1)]
}

function withoutDuplicate(row: string, duplicates: { id: string; of: string }[]): string {
  const memory = JSON.parse(row) as { id: string; duplicate_of: string | null }
  if (memory.duplicate_of === null) return row
  duplicates.push({ id: memory.id, of: memory.duplicate_of })
  return JSON.stringify({ ...memory, duplicate_of: null })
}

const insert = (transaction: Database, table: string, rows: readonly string[]): Promise<unknown> =>
  transaction.execute(sql`
    insert into ${sql.identifier(table)}
    select * from json_populate_recordset(null::${sql.identifier(table)}, ${`[${rows.join(',')}]`}::text::json)`)

async function* unpacked(input: Readable, name: string): AsyncGenerator<string> {
  const text = createGunzip()
  // Failures here are thrown where the text is read.
  pipeline(input, text).catch(() => {})
  let rest = ''
  try {
    // Not by readline: from Node 24 on it also ends a line at U+2028, which texts may hold.
    for await (const part of text.setEncoding('utf8') as AsyncIterable<string>) {
      const [first = '', ...others] = part.split('\n')
      const lines = [rest + first, ...others]
      rest = lines.pop() as string
      yield* lines
    }
  } catch {
    throw damaged(name)
  }
  if (rest !== '') yield rest
}

async function checkHeader(transaction: Database, line: string): Promise<void> {
  let header: Partial<Header> = {}
  try {
    header = JSON.parse(line)
  } catch {}
  if (header.format !== format || header.version !== version) {
    throw new MemoryError('this file is not a backup of a hub', MemoryErrorCode.CORRUPTION)
  }
  const schema = await schemaOf(transaction)
  if (header.schema === schema) return
  throw new MemoryError(
    `the tables of the backup are at ${String(header.schema)}, those of this hub at ${schema}: restore it with the version that made it, then start this version on it`,
    MemoryErrorCode.NOT_SUPPORTED,
  )
}

async function refuseUnlessEmpty(database: Database): Promise<void> {
  for (const table of ['agents', 'entries']) {
    const [held] = await rowsOf(database, sql`select 1 from ${sql.identifier(table)} limit 1`)
    if (!held) continue
    throw new MemoryError(
      `the database is not empty (${table}): restore into a new one`,
      MemoryErrorCode.CONFLICT,
    )
  }
}

const damaged = (name: string): MemoryError =>
  new MemoryError(`${name} is damaged or incomplete: nothing was restored`, MemoryErrorCode.CORRUPTION)
