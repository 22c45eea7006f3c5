import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { MemoryError, MemoryErrorCode } from '../errors.ts'

/**
 * Creates a folder and its parents, level by level; does nothing when it exists. Node's own recursive call never
 * returns when a level cannot be made and the system reports it as missing, as below `/proc`.
 *
 * @throws MemoryError UNAVAILABLE when a level cannot be made, or is a file
 */
export function createFolder(path: string, mode?: number): void {
  if (isFolder(path)) return
  const above = dirname(path)
  // A drive has no parent.
  if (above !== path) createFolder(above, mode)
  try {
    mkdirSync(path, mode)
  } catch (cause) {
    // Another process was faster.
    if (isFolder(path)) return
    const { code } = cause as NodeJS.ErrnoException
    const advice =
      code === 'EEXIST' ? 'what is there is not a folder: move it away' : 'check who may write there'
    throw new MemoryError(
      `${path} cannot be created (${code}): ${advice}, or name another folder`,
      MemoryErrorCode.UNAVAILABLE,
      { cause, details: { path } },
    )
  }
}

/** A level that this user may not access counts as missing. */
const isFolder = (path: string): boolean =>
  existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
