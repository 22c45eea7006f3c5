import { join } from 'node:path'
import { ensureFolder } from '../atomic-write.ts'
import { errorCode, type FileSystem, orAbsent } from '../file-system.ts'
import type { Database, OpenDatabase } from './driver.ts'
import { schema, schemaVersion } from './schema.ts'
import { indexName, readSeal, writeSeal } from './seal.ts'

export interface OpenedIndex {
  database: Database
  /** The index starts empty: everything has to be read. */
  isNew: boolean
  /** The last user did not close it: files written just before may be missing from it. */
  unclean: boolean
  /** Kept in memory only, because the folder cannot be written. */
  temporary: boolean
  /** What happened to an index that could not be used, for people. */
  notice?: string
}

/**
 * Opens the index file, or makes a new one. An index that was closed properly carries a seal with its size
 * and times; one whose seal does not fit is checked page by page before it is believed, unless a living
 * process explains the difference. A damaged one is set aside, never trusted and never deleted.
 */
export function openIndexFile(
  fileSystem: FileSystem,
  open: OpenDatabase,
  folder: string,
  inUse: boolean,
): OpenedIndex {
  const path = join(folder, indexName)
  try {
    ensureFolder(fileSystem, folder)
    if (!fileSystem.existsSync(path)) return { ...create(open, path), unclean: false }
    const sealed = readSeal(fileSystem, folder) !== null
    const problem = tryOpen(open, path, !sealed && !inUse)
    if (typeof problem !== 'string')
      return { database: problem, isNew: false, unclean: !sealed && !inUse, temporary: false }
    const aside = setAside(fileSystem, path)
    return {
      ...create(open, path),
      unclean: false,
      notice: `the search index was ${problem}: it was moved to ${aside} and is built anew`,
    }
  } catch (error) {
    if (!isReadOnly(error)) throw error
    return { ...create(open, ':memory:'), unclean: false, temporary: true }
  }
}

function create(open: OpenDatabase, path: string): Pick<OpenedIndex, 'database' | 'isNew' | 'temporary'> {
  const database = prepare(open(path))
  database.exec('BEGIN IMMEDIATE')
  // Another process may have made it between the look and the lock.
  const isNew = versionOf(database) === 0
  if (isNew) database.exec(schema)
  database.exec('COMMIT')
  return { database, isNew, temporary: path === ':memory:' }
}

/** The database, or what is wrong with it. */
function tryOpen(open: OpenDatabase, path: string, check: boolean): Database | string {
  let database: Database | undefined
  try {
    database = prepare(open(path))
    const version = versionOf(database)
    if (version === schemaVersion && (!check || passesCheck(database))) return database
    database.close()
    return version === schemaVersion ? 'damaged' : 'made by another version'
  } catch (error) {
    database?.close()
    if (isReadOnly(error) || isBusy(error)) throw error
    return 'damaged'
  }
}

function prepare(database: Database): Database {
  database.exec(
    'PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 0',
  )
  return database
}

const versionOf = (database: Database): number =>
  (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

export function passesCheck(database: Database): boolean {
  const rows = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
  return rows.length === 1 && rows[0]?.quick_check === 'ok'
}

/**
 * Closes the index and marks it as properly closed. What was written is moved from the write-ahead log into
 * the file first; where another process still reads the log that is left to the last one to close.
 */
export function closeIndexFile(fileSystem: FileSystem, folder: string, database: Database): void {
  const { n } = database.prepare('SELECT total_changes() AS n').get() as { n: number }
  if (n > 0 || !readSeal(fileSystem, folder)) {
    const folders = database.prepare('SELECT path, modified FROM folders').all() as {
      path: string
      modified: number
    }[]
    const { documents } = database
      .prepare('SELECT count(*) AS documents FROM documents WHERE scope >= 0')
      .get() as { documents: number }
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    const modified = Object.fromEntries(folders.map((each) => [each.path, each.modified]))
    writeSeal(fileSystem, folder, { documents, folders: modified })
  } else database.close()
}

export function setAside(fileSystem: FileSystem, path: string): string {
  const aside = `${path}.corrupt-${Date.now()}`
  fileSystem.renameSync(path, aside)
  for (const suffix of ['-wal', '-shm']) orAbsent(() => fileSystem.unlinkSync(`${path}${suffix}`))
  return aside
}

/** SQLite's extended codes keep the primary code in the low byte: 8 READONLY, 14 CANTOPEN, 5 BUSY. */
const sqliteCode = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff

const isReadOnly = (error: unknown): boolean =>
  ['EACCES', 'EROFS', 'EPERM'].includes(errorCode(error) ?? '') || [8, 14].includes(sqliteCode(error))

export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5

/** The database file is not what SQLite expects: 11 CORRUPT, 26 NOTADB, 10 IOERR. */
export const isDamage = (error: unknown): boolean => [10, 11, 26].includes(sqliteCode(error))
