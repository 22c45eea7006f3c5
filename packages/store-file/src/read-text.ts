import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { errorCode, type FileSystem } from './file-system.ts'
import { type FileStamp, stampOf } from './index/file-stamp.ts'

/** Larger files are not memory. */
export const maxFileBytes = 256 * 1024 * 1024

/** No link is followed; and a pipe of that name does not keep us waiting for its other end. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

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
  let descriptor: number
  try {
    descriptor = fileSystem.openSync(path, readFlags)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw unreadable(path, error)
  }
  try {
    const stats = fileSystem.fstatSync(descriptor)
    if (!stats.isFile()) {
      throw new MemoryError(`${path} is not a file`, MemoryErrorCode.CORRUPTION, { details: { path } })
    }
    if (stats.size > maxFileBytes) {
      throw new MemoryError(`${path} is larger than ${maxFileBytes} bytes`, MemoryErrorCode.CORRUPTION, {
        details: { path },
      })
    }
    const bytes = readBytes(fileSystem, descriptor, stats.size)
    if (!isUtf8(bytes)) {
      throw new MemoryError(
        `${path} is not UTF-8 text: it was left as it is; convert it, or move it away`,
        MemoryErrorCode.CORRUPTION,
        { details: { path } },
      )
    }
    return { content: bytes.toString('utf8'), bytes, stamp: stampOf(stats) }
  } catch (error) {
    if (isMemoryError(error)) throw error
    throw unreadable(path, error)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}

/** One read for the size that is known, where `readFileSync` would ask for it again. */
function readBytes(fileSystem: FileSystem, descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let read = 0
  while (read < size) {
    const more = fileSystem.readSync(descriptor, bytes, read, size - read, null)
    if (more === 0) break
    read += more
  }
  return bytes.subarray(0, read)
}

function unreadable(path: string, cause: unknown): MemoryError {
  const code = errorCode(cause)
  if (code === 'ELOOP') {
    const message = `${path} is a symbolic link, which this memory does not follow: put the file itself there`
    return new MemoryError(message, MemoryErrorCode.FORBIDDEN, { cause, details: { path } })
  }
  return new MemoryError(`${path} cannot be read (${code ?? cause})`, MemoryErrorCode.UNAVAILABLE, {
    cause,
    details: { path },
  })
}
