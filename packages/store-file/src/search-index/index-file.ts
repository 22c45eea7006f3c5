import { join } from 'node:path'
import { orAbsent, writing } from '@recall/core/process'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { passesCheck, setAside } from '../sqlite/damage.ts'
import { type Database, type OpenDatabase, valuesOf } from '../sqlite/driver.ts'
import { isBusy, isDamage, isHeldOpen, isUnwritable } from '../sqlite/errors.ts'
import { busyMs, useWriteAheadLog } from '../sqlite/write-ahead-log.ts'
import { schema, schemaVersion } from './schema.ts'
import { indexName, logSize, readSeal, type Seal, writeSeal } from './seal.ts'

export interface OpenedIndex {
  database: Database
  /** The index starts empty: everything has to be read. */
  isNew: boolean
  /** It was not closed properly: files written just before that may be missing from it. */
  unclean: boolean
  /** Kept in memory only, because the folder cannot be written. */
  temporary: boolean
  /** A message for people: why the previous index could not be used, and what happened to it. */
  notice?: string
}

export interface IndexFileOptions {
  fileSystem: FileSystem
  openDatabase: OpenDatabase
  folder: string
  /** Creates a folder of the memory where it is missing. */
  prepareFolder(folder: string): void
  /** Another living process writes to the memory, so the seal of the index cannot match. */
  inUse: boolean
  /** Runs a section while no other process runs one. */
  exclusively: <T>(section: () => T) => T
}

const attempts = 3

/**
 * Opens the index file, or creates one. An index that was closed properly has a seal with its size and times. If the
 * seal does not match, the index is used only when a living process explains the difference, or a killed one does and
 * every page passes a check. Otherwise it is not trusted: a damaged index is set aside, and an intact one that another
 * version made, or that was copied along with the files, is removed.
 */
export function openIndexFile(options: IndexFileOptions, attempt = 1): OpenedIndex {
  const { fileSystem, openDatabase, folder, inUse } = options
  const path = join(folder, indexName)
  try {
    options.prepareFolder(folder)
    const inode = inodeOf(fileSystem, path)
    const isTrusted = inUse || readSeal(fileSystem, folder) !== null
    const found = inode === undefined ? 'missing' : tryOpen(openDatabase, path, !isTrusted)
    if (isTrusted && typeof found !== 'string') return asItIs(found, false)
    return judge(options, inode, found)
  } catch (error) {
    if (!isUnwritable(error) && !isDamage(error)) throw error
    // Its files may have been deleted while they were being opened.
    if (isDamage(error) && attempt < attempts) return openIndexFile(options, attempt + 1)
    return openTemporaryIndex(openDatabase)
  }
}

/**
 * Decides what happens to an index that is not trusted: under the lock, where no other process can seal it meanwhile.
 */
function judge(options: IndexFileOptions, inode: number | undefined, found: Database | string): OpenedIndex {
  const { fileSystem, openDatabase, folder, inUse, exclusively } = options
  const path = join(folder, indexName)
  let unjudged = typeof found === 'string' ? undefined : found
  const decide = (): OpenedIndex => {
    unjudged = undefined
    // The first look may have caught the file while another process was still creating it.
    const now = typeof found === 'string' && inode !== undefined ? tryOpen(openDatabase, path, true) : found
    const isCurrent = inode === inodeOf(fileSystem, path)
    const isSound = typeof now !== 'string'
    // A living writer has a log, and a killed one leaves it behind. It stays while the index is open here.
    if (isSound && isCurrent && (inUse || logSize(fileSystem, folder) > 0)) return asItIs(now, true)
    if (isSound) now.close()
    // Another process may have been faster.
    if (!isCurrent || (isSound && readSeal(fileSystem, folder))) return openIndexFile(options)
    return replace(options, isSound ? altered : now)
  }
  try {
    return exclusively(decide)
  } finally {
    unjudged?.close()
  }
}

/** Creates an index in the place of one that cannot be used. */
function replace({ fileSystem, openDatabase, folder }: IndexFileOptions, problem: string): OpenedIndex {
  const path = join(folder, indexName)
  if (problem === 'missing' || problem === 'unfinished') {
    removeIndexFile(fileSystem, openDatabase, folder)
    return { ...create(openDatabase, path), unclean: false }
  }
  const isWhole = problem === outdated || problem === altered
  if (isWhole) removeIndexFile(fileSystem, openDatabase, folder)
  const fate = isWhole ? 'it' : `it was moved to ${setAside(fileSystem, path)} and`
  return {
    ...create(openDatabase, path),
    unclean: false,
    notice: `the search index was ${problem}: ${fate} is being rebuilt`,
  }
}

const asItIs = (database: Database, unclean: boolean): OpenedIndex => ({
  database,
  isNew: false,
  unclean,
  temporary: false,
})

/**
 * Removes the index with its log. A log left without its database would be taken for that of the next one. Windows does
 * not remove an open file: while another process, or a statement of this one, has it open, the index is emptied
 * instead.
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

/** Drops all tables at once, and overwrites their content: nobody may find there what was forgotten. */
function emptyIndex(openDatabase: OpenDatabase, path: string): void {
  const database = openDatabase(path)
  try {
    prepare(database)
    database.exec('BEGIN IMMEDIATE')
    try {
      const tables = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql LIKE ?",
      )
      // Dropping a virtual table also drops the tables behind it.
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

/** `quick_check` verifies the structure of pages: it does not notice a changed letter in a word. */
const altered = 'changed by something other than this memory'
const outdated = 'made by another version'

/** The database, or what is wrong with it. `unfinished`: it has no tables (yet). */
function tryOpen(open: OpenDatabase, path: string, check: boolean): Database | string {
  let database: Database | undefined
  try {
    database = open(path)
    prepare(database)
    const version = versionOf(database)
    if (version === schemaVersion && (!check || passesCheck(database))) return database
    const isEmpty = version === 0 && valuesOf(database, 'SELECT 1 AS value FROM sqlite_schema').length === 0
    database.close()
    if (isEmpty) return 'unfinished'
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

const versionOf = (database: Database): number =>
  Number(valuesOf(database, 'SELECT user_version AS value FROM pragma_user_version')[0])

/**
 * Checks an index that is in use. Uses a connection of its own: one that has searched before remembers where words
 * stood, and takes later writes of other processes for damage.
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

const changesOf = (database: Database): number =>
  (database.prepare('SELECT total_changes() AS n').get() as { n: number }).n

/** Whether closing has nothing to do: nothing was written, and the seal is the one found on opening. */
export const isSealed = (fileSystem: FileSystem, folder: string, database: Database): boolean =>
  changesOf(database) === 0 && readSeal(fileSystem, folder) !== null

/**
 * Closes the index, whatever fails, and seals it. First moves the write-ahead log into the file; while another process
 * still reads the log, that is left to the last one to close.
 */
export function closeIndexFile(fileSystem: FileSystem, folder: string, database: Database): void {
  const facts = closeWithFacts(fileSystem, folder, database)
  if (facts) writeSeal(fileSystem, folder, facts)
}

/** @returns the content of a new seal, or `null` when the seal already has it */
function closeWithFacts(
  fileSystem: FileSystem,
  folder: string,
  database: Database,
): Omit<Seal, 'stamp'> | null {
  try {
    if (isSealed(fileSystem, folder, database)) return null
    const folders = database.prepare('SELECT path, modified FROM folders').all() as {
      path: string
      modified: number
    }[]
    const { documents } = database
      .prepare('SELECT count(*) AS documents FROM documents WHERE scope >= 0')
      .get() as { documents: number }
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
    return { documents, folders: Object.fromEntries(folders.map((each) => [each.path, each.modified])) }
  } finally {
    database.close()
  }
}
