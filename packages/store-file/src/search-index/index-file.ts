import { basename, dirname, join } from 'node:path'
import { pause } from '@recall/core/process'
import { ensureFolder, writing } from '../files/atomic-write.ts'
import { causeOf, errorCode, type FileSystem, orAbsent, statusOf } from '../files/file-system.ts'
import type { Database, OpenDatabase } from './driver.ts'
import { schema, schemaVersion } from './schema.ts'
import { indexName, logSize, readSeal, writeSeal } from './seal.ts'

export interface OpenedIndex {
  database: Database
  /** The index starts empty: everything has to be read. */
  isNew: boolean
  /** It was not closed properly: files written just before may be missing from it. */
  unclean: boolean
  /** Kept in memory only, because the folder cannot be written. */
  temporary: boolean
  /** A message for people: why the previous index could not be used, and what became of it. */
  notice?: string
}

export interface IndexFileOptions {
  fileSystem: FileSystem
  openDatabase: OpenDatabase
  folder: string
  /** Another living process writes to the memory, so the seal of the index cannot match. */
  inUse: boolean
  /** Runs a section that no other process runs at the same time. */
  exclusively: <T>(section: () => T) => T
}

const attempts = 3

/**
 * Opens the index file, or creates one. An index that was closed properly has a seal with its size and times. If the
 * seal does not match, the index is used only when a living process explains the difference, or a killed one does and
 * every page passes a check. Otherwise it is not trusted: a damaged index is set aside, and an intact one, of another
 * version or copied along with the files, is removed.
 */
export function openIndexFile(options: IndexFileOptions, attempt = 1): OpenedIndex {
  const { fileSystem, openDatabase, folder, inUse, exclusively } = options
  const path = join(folder, indexName)
  try {
    ensureFolder(fileSystem, folder)
    const inode = inodeOf(fileSystem, path)
    const sealed = readSeal(fileSystem, folder) !== null
    // A killed writer leaves a log behind. Without one the file is as it was closed, or something else changed it.
    const isAltered = !sealed && !inUse && logSize(fileSystem, folder) === 0
    const found = inode === undefined ? 'missing' : tryOpen(openDatabase, path, !sealed && !inUse, isAltered)
    if (typeof found !== 'string')
      return { database: found, isNew: false, unclean: !sealed && !inUse, temporary: false }
    return exclusively(() => {
      // Another process may have been faster.
      if (inode !== inodeOf(fileSystem, path)) return openIndexFile(options)
      if (found === altered && readSeal(fileSystem, folder)) return openIndexFile(options)
      const now = found === 'unfinished' ? tryOpen(openDatabase, path, true, false) : found
      if (typeof now !== 'string') return { database: now, isNew: false, unclean: true, temporary: false }
      if (now === 'missing' || now === 'unfinished') {
        removeIndexFile(fileSystem, openDatabase, folder)
        return { ...create(openDatabase, path), unclean: false }
      }
      const isWhole = now === outdated || now === altered
      if (isWhole) removeIndexFile(fileSystem, openDatabase, folder)
      const fate = isWhole ? 'it' : `it was moved to ${setAside(fileSystem, path)} and`
      return {
        ...create(openDatabase, path),
        unclean: false,
        notice: `the search index was ${now}: ${fate} is built anew`,
      }
    })
  } catch (error) {
    if (!isUnwritable(error) && !isDamage(error)) throw error
    // Its files may have been deleted while they were opened.
    if (isDamage(error) && attempt < attempts) return openIndexFile(options, attempt + 1)
    return openTemporaryIndex(openDatabase)
  }
}

/**
 * Removes the index with its log. A log left without its database would be taken for that of the next one. Windows
 * removes no file that is open: while another process, or a statement of this one, has it, the index is emptied.
 */
export function removeIndexFile(fileSystem: FileSystem, openDatabase: OpenDatabase, folder: string): void {
  const path = join(folder, indexName)
  writing(path, () => {
    try {
      for (const suffix of ['', '-wal', '-shm']) orAbsent(() => fileSystem.unlinkSync(path + suffix))
    } catch (error) {
      if (!isHeldOpen(error)) throw error
      emptyIndex(openDatabase, path)
    }
  })
}

/** Drops all tables at once, and overwrites what was in them: nobody may find there what was forgotten. */
function emptyIndex(openDatabase: OpenDatabase, path: string): void {
  const database = openDatabase(path)
  try {
    prepare(database)
    database.exec('BEGIN IMMEDIATE')
    try {
      const tables = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql LIKE ?",
      )
      // With a virtual table go those behind it.
      for (const kind of ['CREATE VIRTUAL %', '%']) {
        for (const { name } of tables.all(kind) as { name: string }[]) database.exec(`DROP TABLE "${name}"`)
      }
      database.exec('PRAGMA user_version = 0; COMMIT')
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}

/** Removes a damaged database that was set aside: it still holds words that may have to be forgotten. */
export function removeSetAside(fileSystem: FileSystem, path: string): void {
  const folder = dirname(path)
  for (const name of orAbsent(() => fileSystem.readdirSync(folder, 'utf8')) ?? []) {
    if (!name.startsWith(`${basename(path)}${aside}`)) continue
    const copy = join(folder, name)
    writing(copy, () => orAbsent(() => fileSystem.unlinkSync(copy)))
  }
}

/** Infix in the name of a database that was set aside; a time in milliseconds follows. */
const aside = '.corrupt-'

export const inodeOf = (fileSystem: FileSystem, path: string): number | undefined =>
  statusOf(fileSystem, path)?.ino

/** An index in memory, for as long as this store is open. */
export const openTemporaryIndex = (open: OpenDatabase): OpenedIndex => ({
  ...create(open, ':memory:'),
  unclean: false,
})

function create(open: OpenDatabase, path: string): Pick<OpenedIndex, 'database' | 'isNew' | 'temporary'> {
  const database = open(path)
  try {
    prepare(database)
    database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`)
    return { database, isNew: true, temporary: path === ':memory:' }
  } catch (error) {
    database.close()
    throw error
  }
}

/** `quick_check` verifies the structure of pages: it would not notice a changed letter in a word. */
const altered = 'changed by something else than this memory'
const outdated = 'made by another version'

/** The database, or what is wrong with it. `unfinished`: it has no tables (yet). */
function tryOpen(open: OpenDatabase, path: string, check: boolean, isAltered: boolean): Database | string {
  let database: Database | undefined
  try {
    database = open(path)
    prepare(database)
    const version = versionOf(database)
    const isSound = version === schemaVersion && (!check || passesCheck(database))
    if (isSound && !isAltered) return database
    const isEmpty = version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
    database.close()
    if (isEmpty) return 'unfinished'
    if (isSound) return altered
    return version === schemaVersion || version === 0 ? 'damaged' : outdated
  } catch (error) {
    database?.close()
    if (isUnwritable(error) || isBusy(error)) throw error
    return 'damaged'
  }
}

function prepare(database: Database): void {
  database.exec(
    `PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 0; PRAGMA cache_size = -16000`,
  )
  useWriteAheadLog(database)
}

/** How long to wait for another process that holds a database, in milliseconds. */
export const busyMs = 10_000

/**
 * Lets readers and one writer work side by side. Retries while another process opens the same new database, because
 * SQLite's busy timeout does not apply here.
 */
export function useWriteAheadLog(database: Pick<Database, 'exec'>): void {
  let deadline: number | undefined
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      // Not asked for the time before there is need: the first call loads a dozen modules of Node's.
      deadline ??= performance.now() + busyMs
      if (!isBusy(error) || performance.now() > deadline) throw error
      pause(1 + Math.random())
    }
  }
}

const versionOf = (database: Database): number =>
  (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

/**
 * Checks an index that is in use. On a connection of its own: one that has searched before remembers where words stood,
 * and takes what other processes have written since for damage.
 */
export function isIntact(openDatabase: OpenDatabase, folder: string): boolean {
  const database = openDatabase(join(folder, indexName))
  try {
    prepare(database)
    return passesCheck(database)
  } finally {
    database.close()
  }
}

export function passesCheck(database: Database): boolean {
  try {
    const rows = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
    return rows.length === 1 && rows[0]?.quick_check === 'ok'
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

const changesOf = (database: Database): number =>
  (database.prepare('SELECT total_changes() AS n').get() as { n: number }).n

/** Whether closing leaves nothing to do: nothing was written, and the seal is the one it was opened with. */
export const isSealed = (fileSystem: FileSystem, folder: string, database: Database): boolean =>
  changesOf(database) === 0 && readSeal(fileSystem, folder) !== null

/**
 * Closes the index and seals it. First moves the write-ahead log into the file; while another process still reads the
 * log, that is left to the last one to close.
 */
export function closeIndexFile(fileSystem: FileSystem, folder: string, database: Database): void {
  if (!isSealed(fileSystem, folder, database)) {
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

/** Renames a damaged database, replacing one that was set aside before. Returns its new path. */
export function setAside(fileSystem: FileSystem, path: string): string {
  const kept = `${path}${aside}${Date.now()}`
  removeSetAside(fileSystem, path)
  writing(path, () => {
    // Another process may have set it aside before.
    orAbsent(() => fileSystem.renameSync(path, kept))
    for (const suffix of ['-wal', '-shm']) orAbsent(() => fileSystem.unlinkSync(`${path}${suffix}`))
  })
  return kept
}

/** SQLite's messages and their primary codes: errors of queries that return rows carry nothing but the message. */
const codesByMessage: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'constraint failed': 19,
  'file is not a database': 26,
}

/** SQLite's extended codes keep the primary code in the low byte: 8 READONLY, 14 CANTOPEN, 5 BUSY. */
function sqliteCode(error: unknown): number {
  const { code, errcode, message } = (causeOf(error) ?? {}) as {
    code?: string
    errcode?: number
    message?: string
  }
  if (errcode !== undefined) return errcode & 0xff
  if (code !== 'ERR_SQLITE_ERROR' || message === undefined) return 0
  // FTS5 says which of its tables is corrupt.
  return message.startsWith('fts5: corrupt') ? 11 : (codesByMessage[message] ?? 0)
}

/** 13 FULL. */
export const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '') || sqliteCode(error) === 13

/** Windows: another process, or another part of this one, has the file open. */
const isHeldOpen = (error: unknown): boolean => errorCode(error) === 'EBUSY'

/** Nothing can be written, but what is stored can still be read. */
export const isUnwritable = (error: unknown): boolean =>
  isDiskFull(error) ||
  isHeldOpen(error) ||
  ['EACCES', 'EROFS', 'EPERM'].includes(errorCode(error) ?? '') ||
  [8, 14].includes(sqliteCode(error))

export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5

/**
 * The database file is not what SQLite expects: 11 CORRUPT, 26 NOTADB, 10 IOERR; or its tables contradict each other:
 * 19 CONSTRAINT, since what we write keeps every constraint of a whole database.
 */
export const isDamage = (error: unknown): boolean => [10, 11, 19, 26].includes(sqliteCode(error))

/** Errors of the language itself: a row that says nonsense leads to them, as a mistake of ours does. */
const ofLanguage = [TypeError, RangeError, SyntaxError]

/**
 * Whether a call failed because the database is damaged. SQLite notices only what it stumbles on: of a changed byte it
 * may make a row that lacks a value.
 *
 * @param isIntact checks the database
 */
export const comesOfDamage = (error: unknown, isIntact: () => boolean): boolean =>
  isDamage(error) || (ofLanguage.some((kind) => error instanceof kind) && !isIntact())

/** Another process empties the index in its place, or is about to fill a new one. */
export const isEmptied = (error: unknown): boolean =>
  errorCode(error) === 'ERR_SQLITE_ERROR' && /^no such table/.test((causeOf(error) as Error).message)
