import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { ensureInternal } from '../files/folders.ts'
import { removeSetAside, setAside } from '../sqlite/damage.ts'
import { createStatements, type Database, type OpenDatabase, valuesOf } from '../sqlite/driver.ts'
import { isBusy, isDamage, isDiskFull, isUnwritable } from '../sqlite/errors.ts'
import { busyMs, useWriteAheadLog } from '../sqlite/write-ahead-log.ts'

export const accessName = 'access.db'

const schema = `
CREATE TABLE IF NOT EXISTS access (
  scope TEXT NOT NULL,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  expires INTEGER,
  PRIMARY KEY (scope, namespace, key)
) WITHOUT ROWID;
`

export interface OpenedLog {
  database: Database
  sql: ReturnType<typeof createStatements>
}

/** Milliseconds after which a log that could not be opened for writing is tried again. */
const retryMs = 1000

const hasTable = (database: Database): boolean =>
  valuesOf(database, "SELECT 1 AS value FROM sqlite_schema WHERE name = 'access'").length > 0

/**
 * The file of the access counts, opened on demand. An entry can be read even when the access cannot be counted: a
 * damaged file is replaced by an empty one, and a file that another process holds for long is not an error, nor is a
 * full or read-only disk.
 *
 * @param now milliseconds that never go back
 */
export function createAccessDatabase(
  fileSystem: FileSystem,
  openDatabase: OpenDatabase,
  folder: string,
  onNotice: (text: string) => void,
  now: () => number = () => performance.now(),
) {
  const path = join(folder, accessName)
  let opened: (OpenedLog & { inode: number; isForReading?: true }) | undefined
  /** Until then the log counts as one that cannot be opened for writing. */
  let unwritableUntil = Number.NEGATIVE_INFINITY
  let isFull = false
  let isHeld = false

  const inode = (): number | undefined => statusOf(fileSystem, path)?.ino

  const open = (create: boolean): typeof opened => {
    const present = inode()
    const isDue = now() >= unwritableUntil
    // The file was deleted or replaced: nobody would see what is counted in the old one.
    if (opened && (opened.inode !== present || (opened.isForReading && isDue))) close()
    if (opened || !isDue || (!create && present === undefined)) return opened
    const log = tryOpenForWriting()
    if (!('problem' in log)) opened = { ...log, inode: inode() ?? 0 }
    else if (create || present === undefined) throw log.problem
    else opened = { ...openForReading(log.problem), inode: present, isForReading: true }
    return opened
  }

  const tryOpenForWriting = (): OpenedLog | { problem: unknown } => {
    try {
      return openForWriting()
    } catch (problem) {
      if (!isUnwritable(problem)) throw problem
      // On a full disk there may be room again at any moment.
      unwritableUntil = now() + (isDiskFull(problem) ? 0 : retryMs)
      return { problem }
    }
  }

  const openForWriting = (): OpenedLog => {
    ensureInternal(fileSystem, folder)
    const database = openDatabase(path)
    try {
      database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = NORMAL`)
      useWriteAheadLog(database)
      database.exec(schema)
      return { database, sql: createStatements(database) }
    } catch (error) {
      database.close()
      throw error
    }
  }

  /**
   * Opens a log read-only if no file can be made next to it, as on a full or read-only disk. Its write-ahead log is
   * ignored.
   *
   * @param problem why it cannot be opened for writing, thrown when it cannot be read either
   */
  const openForReading = (problem: unknown): OpenedLog => {
    if ((statusOf(fileSystem, `${path}-wal`)?.size ?? 0) > 0) throw problem
    try {
      const database = openDatabase(`${pathToFileURL(path)}?immutable=1`)
      if (hasTable(database)) return { database, sql: createStatements(database) }
      database.close()
    } catch {
      throw problem
    }
    // On a full disk SQLite creates the file and then has no room for its content.
    return emptyLog()
  }

  const emptyLog = (): OpenedLog => {
    const database = openDatabase(':memory:')
    database.exec(schema)
    return { database, sql: createStatements(database) }
  }

  const close = (): void => {
    opened?.database.close()
    opened = undefined
  }

  /** Runs a call on the log, if there is one; on a damaged log it runs again on a new one. */
  const onSoundLog = <T>(create: boolean, call: (log: OpenedLog) => T): T | undefined => {
    const run = (): T | undefined => {
      const log = open(create)
      return log && call(log)
    }
    try {
      return run()
    } catch (error) {
      if (!isDamage(error)) throw error
      close()
      onNotice(
        `the access counts were damaged: they were moved to ${setAside(fileSystem, path)} and start anew`,
      )
      return run()
    }
  }

  /** Accepts that accesses are not counted, and says so once; rethrows any error that is not a reason for that. */
  const goUncounted = (error: unknown): void => {
    if (isBusy(error)) {
      if (!isHeld) onNotice(`${path} is held by another process: accesses are not counted meanwhile`)
      isHeld = true
      return
    }
    if (!isUnwritable(error)) throw error
    if (!isDiskFull(error)) return
    if (!isFull) onNotice(`${path} cannot be written, the disk is full: accesses are not counted`)
    isFull = true
  }

  const using = <T>(create: boolean, call: (log: OpenedLog) => T): T | undefined => {
    try {
      const result = onSoundLog(create, call)
      if (create) isFull = isHeld = false
      return result
    } catch (error) {
      goUncounted(error)
      return undefined
    }
  }

  /** Runs a call on the log; returns `undefined` when there is no log, or it cannot be used. */
  const ifPresent = <T>(call: (log: OpenedLog) => T): T | undefined => using(false, call)

  /** Runs a call on the log, which is created when missing; returns `undefined` when it cannot be used. */
  const making = <T>(call: (log: OpenedLog) => T): T | undefined => using(true, call)

  /** Whether it is known what was read: there is no log, or one that can be read. */
  const isReadable = (): boolean =>
    inode() === undefined || ifPresent(({ sql }) => sql('SELECT 1 FROM access LIMIT 1').all()) !== undefined

  /** @throws MemoryError UNAVAILABLE when there is a log that cannot be read */
  const assertReadable = (): void => {
    if (isReadable()) return
    throw new MemoryError(
      `${path} cannot be read, so it is unknown which memories were read lately and live on: nothing was deleted; check who may read and write that file`,
      MemoryErrorCode.UNAVAILABLE,
      { details: { path } },
    )
  }

  /**
   * Leaves no trace of deleted rows.
   *
   * @param deleteRows deletes some more before that
   * @throws MemoryError WRITE_FAILED when there is a log that cannot be written
   */
  const compact = (deleteRows: (log: OpenedLog) => void): void => {
    removeSetAside(fileSystem, path)
    const isCompact = ifPresent((log) => {
      deleteRows(log)
      log.database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
      return true
    })
    if (isCompact || inode() === undefined) return
    throw new MemoryError(
      `${path} may still name memories that were deleted: it cannot be written, or another process holds it; try again`,
      MemoryErrorCode.WRITE_FAILED,
      { details: { path } },
    )
  }

  return { ifPresent, making, isReadable, assertReadable, compact, close }
}
