import { dirname } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { errorCode, syncFolder } from '@recall/core/process'
import type { FileSystem } from './file-system.ts'

/**
 * Creates a folder, level by level, and makes its name durable; does nothing when it exists. Node's own recursive call
 * says of a read-only disk that the folder is missing, and below `/proc` it never returns.
 *
 * @param mode of the last level; the others are as the process creates any folder
 */
export function ensureFolder(fileSystem: FileSystem, folder: string, mode?: number): void {
  if (fileSystem.existsSync(folder)) return
  // Each new level is a name in the level above it.
  const above = dirname(folder)
  // A drive has nothing above it.
  if (above !== folder) ensureFolder(fileSystem, above)
  makeLevel(fileSystem, folder, mode)
}

/**
 * The same below a folder that is never created: while it is away, what is written would lie where nobody looks for it.
 *
 * @param mode of the first level below it; the others are as the process creates any folder
 * @throws MemoryError UNAVAILABLE when the folder above is missing
 */
export function ensureBelow(fileSystem: FileSystem, above: string, folder: string, mode?: number): void {
  if (folder === above || fileSystem.existsSync(folder)) return
  const outer = dirname(folder)
  ensureBelow(fileSystem, above, outer, mode)
  try {
    makeLevel(fileSystem, folder, outer === above ? mode : undefined)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw missingRoot(above)
    throw error
  }
}

function makeLevel(fileSystem: FileSystem, folder: string, mode: number | undefined): void {
  try {
    fileSystem.mkdirSync(folder, mode)
  } catch (error) {
    // Another process was faster.
    if (!fileSystem.existsSync(folder)) throw error
  }
  syncFolder(dirname(folder), fileSystem)
}

export function missingRoot(root: string): MemoryError {
  return new MemoryError(
    `${root} does not exist: create it with 'recall init', in a program with 'create: true', or check that its disk is mounted`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path: root } },
  )
}

/** What is created in a root only the user may enter, which protects all that lies in it. */
export const onlyUser = 0o700

/** Creates the folder of the index, in a memory that is there. */
export const ensureInternal = (fileSystem: FileSystem, internal: string): void =>
  ensureBelow(fileSystem, dirname(internal), internal)
