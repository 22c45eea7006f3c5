import { dirname, join, relative, sep } from 'node:path'
import { syncFolder } from '@recall/core/process'
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
  try {
    fileSystem.mkdirSync(folder, mode)
  } catch (error) {
    // Another process was faster.
    if (!fileSystem.existsSync(folder)) throw error
  }
  syncFolder(dirname(folder), fileSystem)
}

/** What is created in a root only the user may enter, which protects all that lies in it. */
export const onlyUser = 0o700

/** Creates a folder of a memory. */
export function ensureWithin(fileSystem: FileSystem, root: string, folder: string): void {
  const [first = ''] = relative(root, folder).split(sep)
  ensureFolder(fileSystem, join(root, first), onlyUser)
  ensureFolder(fileSystem, folder)
}

/** Creates the folder of the index, usually the first one of a new memory. */
export const ensureInternal = (fileSystem: FileSystem, internal: string): void =>
  ensureWithin(fileSystem, dirname(dirname(internal)), internal)
