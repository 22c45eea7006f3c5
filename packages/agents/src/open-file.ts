import { type FileHandle, open } from 'node:fs/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'

/**
 * Opens a file for reading.
 *
 * @throws MemoryError NOT_FOUND (no such file), INVALID_INPUT (a folder), FORBIDDEN (no permission) or
 * UNAVAILABLE, each with `details.path`
 */
export async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r')
    try {
      if (!(await file.stat()).isDirectory()) return file
      throw new MemoryError(`${path} is a folder, not a transcript`, MemoryErrorCode.INVALID_INPUT, {
        details: { path },
      })
    } catch (error) {
      await file.close()
      throw error
    }
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

/** Turns a known error of the file system into a `MemoryError`; any other error is returned unchanged. */
export function toMemoryError(path: string, error: unknown): unknown {
  const details = { path }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MemoryError(`${path} does not exist`, MemoryErrorCode.NOT_FOUND, { cause: error, details })
    case 'EACCES':
    case 'EPERM':
      return new MemoryError(`${path} may not be read`, MemoryErrorCode.FORBIDDEN, { cause: error, details })
    case 'EISDIR':
      return new MemoryError(`${path} is a folder, not a transcript`, MemoryErrorCode.INVALID_INPUT, {
        cause: error,
        details,
      })
    case 'EIO':
    case 'EMFILE':
    case 'ENFILE':
    case 'ELOOP':
      return new MemoryError(`${path} cannot be read now`, MemoryErrorCode.UNAVAILABLE, {
        cause: error,
        details,
      })
    default:
      return error
  }
}
