import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toMemoryError } from './open-file.ts'

export type Row = Record<string, unknown>
/** Runs one query and returns all rows. */
export type Query = (sql: string, ...parameters: string[]) => Row[]

/**
 * Reads a database that belongs to another program. It is copied first, with its write-ahead log: opening it in place
 * could change it, and its owner may be writing.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when it cannot be read
 */
export async function withSnapshot<T>(path: string, read: (query: Query) => T): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'recall-read-'))
  try {
    const copy = join(folder, 'copy.db')
    await copyFile(path, copy)
    await copyFile(`${path}-wal`, `${copy}-wal`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    // Loaded on demand, because most transcripts are not databases.
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const database = new DatabaseSync(copy)
    try {
      return read((sql, ...parameters) => database.prepare(sql).all(...parameters) as Row[])
    } finally {
      database.close()
    }
  } catch (error) {
    throw toMemoryError(path, error)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const hasTables = (query: Query, ...names: string[]): boolean => {
  const tables = new Set(query("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name))
  return names.every((name) => tables.has(name))
}
