import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { errorCode, orAbsent } from '@recall/core/process'
import { type FileStamp, stampOf } from './file-stamp.ts'
import { type FileSystem, statusOf, unreadable } from './file-system.ts'

/** Larger files are not treated as memory. */
const maxFileBytes = 256 * 1024 * 1024

/** Follows no link, and does not block on a named pipe. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Windows follows every link that it opens. */
const followsLinks = constants.O_NOFOLLOW === undefined

export interface TextFile {
  content: string
  bytes: Uint8Array
  stamp: FileStamp
}

/**
 * Reads a text file without following a symbolic link.
 *
 * @returns `null` when there is no such file
 * @throws MemoryError CORRUPTION when it is not UTF-8, FORBIDDEN when it is a link, UNAVAILABLE when it cannot
 * be read: never an empty text instead
 */
export function readText(fileSystem: FileSystem, path: string): TextFile | null {
  try {
    if (followsLinks && statusOf(fileSystem, path)?.isSymbolicLink()) throw refusedLink(path)
    const descriptor = orAbsent(() => fileSystem.openSync(path, readFlags))
    if (descriptor === null) return null
    try {
      return readOpen(fileSystem, path, descriptor)
    } finally {
      fileSystem.closeSync(descriptor)
    }
  } catch (error) {
    if (isMemoryError(error)) throw error
    throw errorCode(error) === 'ELOOP' ? refusedLink(path, error) : unreadable(fileSystem, path, error)
  }
}

function readOpen(fileSystem: FileSystem, path: string, descriptor: number): TextFile {
  const unfit = (problem: string): MemoryError =>
    new MemoryError(`${path} ${problem}`, MemoryErrorCode.CORRUPTION, { details: { path } })
  const stats = fileSystem.fstatSync(descriptor)
  if (!stats.isFile()) throw unfit('is not a file: move it away')
  if (stats.size > maxFileBytes) throw unfit(`is larger than ${maxFileBytes} bytes`)
  const bytes = fileSystem.readFileSync(descriptor)
  if (!isUtf8(bytes)) throw unfit('is not UTF-8 text: it was left as it is; convert it, or move it away')
  return { content: bytes.toString('utf8'), bytes, stamp: stampOf(stats) }
}

/**
 * The beginning of a text file, possibly cut within a character, or the whole file when it is shorter.
 *
 * @returns `null` when there is no such file, or it cannot be read
 */
export function readBeginning(fileSystem: FileSystem, path: string, length: number): string | null {
  try {
    if (followsLinks && statusOf(fileSystem, path)?.isSymbolicLink()) return null
    const descriptor = fileSystem.openSync(path, readFlags)
    try {
      const bytes = Buffer.alloc(length)
      const read = fileSystem.readSync(descriptor, bytes, 0, length, 0)
      return bytes.toString('utf8', 0, read)
    } finally {
      fileSystem.closeSync(descriptor)
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return null
  }
}

const refusedLink = (path: string, cause?: unknown): MemoryError =>
  new MemoryError(
    `${path} is a symbolic link, which this memory does not follow: put the file itself there`,
    MemoryErrorCode.FORBIDDEN,
    { cause, details: { path } },
  )
