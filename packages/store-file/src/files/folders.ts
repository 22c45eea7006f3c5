import { dirname } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { errorCode, syncFolder } from '@recall/core/process'
import type { FileSystem } from './file-system.ts'

/**
 * Creates a folder, level by level, and makes its name durable; does nothing when it exists. On a read-only disk Node's
 * own recursive call reports that the folder is missing, and below `/proc` it never returns.
 *
 * @param mode of the last level; the others get the process's default
 */
export function ensureFolder(fileSystem: FileSystem, folder: string, mode?: number): void {
  if (fileSystem.existsSync(folder)) return
  // Each new level is a name in its parent folder.
  const above = dirname(folder)
  // A drive has nothing above it.
  if (above !== folder) ensureFolder(fileSystem, above)
  makeLevel(fileSystem, folder, mode)
}

/**
 * Like `ensureFolder`, below a folder that is never created: while it is away, new files would lie where nobody looks
 * for them.
 *
 * @param mode of the first level below it; the others get the process's default
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

/** Only the user may enter what is created in a root, which protects everything in it. */
export const onlyUser = 0o700

/** Creates the folder of the index, in a memory that exists. */
export const ensureInternal = (fileSystem: FileSystem, internal: string): void =>
  ensureBelow(fileSystem, dirname(internal), internal)
