import { constants, copyFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { createCopyFolder, removeCopyFolder } from './copy-folders.ts'
import { toMemoryError } from './open-file.ts'

export type Row = Record<string, unknown>
/** Runs one query and returns all rows. */
export type Query = (sql: string, ...parameters: string[]) => Row[]

/**
 * The copy of the database that was read last. Its sessions are read one after the other, and copying all of them for
 * each would take quadratic time.
 */
let last: { state: string; folder: string } | null = null
let timer: NodeJS.Timeout | undefined
/** A copy that nobody reads any more is removed after this long, and when the process ends. */
const longestUnreadMs = 2000
/**
 * Copies to remove. On Windows they cannot be removed while they are open, and the driver closes a file only when all
 * statements were garbage-collected: removal is then retried, at the latest by the next process that reads a database.
 */
const unwanted = new Set<string>()

/**
 * Reads a database that belongs to another program. It is copied first, with its write-ahead log: opening it in place
 * could change it, and its owner may be writing.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when it cannot be read, INVALID_INPUT when it is damaged or not a
 * database, UNAVAILABLE when its owner does not pause
 */
export async function withSnapshot<T>(path: string, read: (query: Query) => T): Promise<T> {
  try {
    // Loaded on demand, because most transcripts are not databases.
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const state = await stateOf(path)
    // From here to the end of the read, other code runs only while copying: no other caller discards the copy.
    const { folder } = last?.state === state ? last : keep(state, await copyAtRest(path))
    timer?.refresh()
    const database = new DatabaseSync(join(folder, copyName))
    try {
      return read((sql, ...parameters) => database.prepare(sql).all(...parameters) as Row[])
    } finally {
      database.close()
    }
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

const copyName = 'copy.db'
const mostCopies = 3

/**
 * Copies a database and its log. Between the two copies its owner may move pages from the log into the database: then
 * the copies do not match, and are made again.
 */
async function copyAtRest(path: string): Promise<string> {
  for (let copies = 0; copies < mostCopies; copies++) {
    const before = await stampOf(path)
    const folder = await copy(path)
    if ((await stampOf(path)) === before) return folder
    removeCopyFolder(folder)
  }
  throw new MemoryError(`${path} is being written: try again`, MemoryErrorCode.UNAVAILABLE, {
    details: { path },
  })
}

async function copy(path: string): Promise<string> {
  const folder = createCopyFolder()
  const target = join(folder, copyName)
  try {
    // Takes no time if the file system lets two files share their common content.
    await copyFile(path, target, constants.COPYFILE_FICLONE)
    await unlessAbsent(copyFile(`${path}-wal`, `${target}-wal`, constants.COPYFILE_FICLONE))
  } catch (error) {
    removeCopyFolder(folder)
    throw error
  }
  return folder
}

function removeUnwanted(): void {
  for (const folder of unwanted) if (removeCopyFolder(folder)) unwanted.delete(folder)
}

function keep(state: string, folder: string): NonNullable<typeof last> {
  discard()
  last = { state, folder }
  discardLater()
  return last
}

function discard(): void {
  clearTimeout(timer)
  if (last) unwanted.add(last.folder)
  last = null
  removeUnwanted()
  if (unwanted.size > 0) discardLater()
}

function discardLater(): void {
  clearTimeout(timer)
  timer = setTimeout(discard, longestUnreadMs).unref()
}

/** Changes whenever the database or its log does. */
const stateOf = async (path: string): Promise<string> =>
  [path, await stampOf(path), await unlessAbsent(stampOf(`${path}-wal`))].join(' ')

async function stampOf(path: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true })
  return `${ino}-${size}-${mtimeNs}`
}

const unlessAbsent = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

export const hasTables = (query: Query, ...names: string[]): boolean => {
  const tables = new Set(query("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => name))
  return names.every((name) => tables.has(name))
}
