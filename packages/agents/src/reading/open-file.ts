import { type FileHandle, open, opendir, stat } from 'node:fs/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'

/**
 * Opens a file for reading. Readers look at a file several times, so a pipe, which gives its bytes once, is refused.
 *
 * @throws MemoryError NOT_FOUND (no such file), INVALID_INPUT (a folder, a pipe), FORBIDDEN (no permission) or
 * UNAVAILABLE, each with `details.path`
 */
export async function openFile(path: string): Promise<FileHandle> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) {
      await (await opendir(path)).close()
      throw folderError(path)
    }
    if (!stats.isFile()) throw streamError(path)
    return await open(path, 'r')
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

/**
 * A text that changes whenever a file does.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when its state cannot be read
 */
export async function stateOfFile(path: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(path)
    return `${size}-${mtimeMs}-${ino}-${path}`
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

const folderError = (path: string, cause?: unknown): MemoryError =>
  new MemoryError(`${path} is a folder, not a transcript`, MemoryErrorCode.INVALID_INPUT, {
    cause,
    details: { path },
  })

export const streamError = (path: string): MemoryError =>
  new MemoryError(
    `${path} is a pipe or a device, which can be read only once: save what comes out of it to a file first`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )

/** Node lists a name that is not UTF-8 with U+FFFD in it, and cannot open a file by that name. */
const whyMissing = (path: string): string =>
  path.includes('\ufffd') ? 'cannot be found: its name is not UTF-8' : 'does not exist'

/** Turns a known error of the file system or of SQLite into a `MemoryError`; any other error is returned unchanged. */
export function toMemoryError(path: string, error: unknown): unknown {
  const details = { path }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MemoryError(`${path} ${whyMissing(path)}`, MemoryErrorCode.NOT_FOUND, {
        cause: error,
        details,
      })
    case 'EACCES':
    case 'EPERM':
      return new MemoryError(`${path} may not be read`, MemoryErrorCode.FORBIDDEN, { cause: error, details })
    case 'EISDIR':
      return folderError(path, error)
    case 'EIO':
    case 'EMFILE':
    case 'ENFILE':
    case 'ELOOP':
      return new MemoryError(`${path} cannot be read now`, MemoryErrorCode.UNAVAILABLE, {
        cause: error,
        details,
      })
    case 'ERR_SQLITE_ERROR':
      return new MemoryError(
        `${path} cannot be read as a database: ${(error as Error).message}`,
        MemoryErrorCode.INVALID_INPUT,
        { cause: error, details },
      )
    default:
      return error
  }
}
