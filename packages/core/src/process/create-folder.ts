import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { MemoryError, MemoryErrorCode } from '../errors.ts'

/**
 * Creates a folder and those above it, level by level; does nothing when it exists. Node's own recursive call never
 * returns where a level cannot be made and the system says that it is missing, as below `/proc`.
 *
 * @throws MemoryError UNAVAILABLE when a level cannot be made
 */
export function createFolder(path: string, mode?: number): void {
  if (existsSync(path)) return
  const above = dirname(path)
  // A drive has nothing above it.
  if (above !== path) createFolder(above, mode)
  try {
    mkdirSync(path, mode)
  } catch (cause) {
    // Another process was faster.
    if (existsSync(path)) return
    throw new MemoryError(
      `${path} cannot be created (${(cause as NodeJS.ErrnoException).code}): see who may write there, or name another folder`,
      MemoryErrorCode.UNAVAILABLE,
      { cause, details: { path } },
    )
  }
}
