import { join } from 'node:path'
import { orAbsent } from '@recall/core/process'
import { removeFile, removeFiles, replaceFile } from './files/atomic-write.ts'
import type { FileSystem } from './files/file-system.ts'
import { isAbandoned, ownedName } from './files/owned-name.ts'

/**
 * Notes on the disk which processes remove something for good, and have not yet rebuilt what still holds traces of it.
 * Each removal has a note of its own, so that none is taken away by another one that ends first.
 */
export function createErasures(
  fileSystem: FileSystem,
  internal: string,
  prepareFolder: (folder: string) => void,
) {
  const folder = join(internal, 'erasing')
  return {
    /** @returns what takes the note away */
    begin(): () => void {
      const note = join(folder, ownedName())
      prepareFolder(folder)
      replaceFile(fileSystem, note, '')
      return () => void removeFile(fileSystem, note)
    },

    /** Notes of processes that were killed before they came to the rebuild. */
    interrupted: (): string[] =>
      (orAbsent(() => fileSystem.readdirSync(folder)) ?? [])
        .map((name) => join(folder, name))
        .filter((path) => isAbandoned(fileSystem, path)),

    discard: (notes: readonly string[]): void => removeFiles(fileSystem, notes),
  }
}
