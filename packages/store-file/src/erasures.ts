import { join } from 'node:path'
import { removeFile, removeFiles, replaceFile } from './files/atomic-write.ts'
import { type FileSystem, namesIn } from './files/file-system.ts'
import { isAbandoned, ownedName } from './files/owned-name.ts'

/**
 * Notes on disk, one for each removal for good whose rebuild of the files that hold traces has not finished. Each
 * removal has its own note, so that one that ends first does not take away another's.
 */
export function createErasures(
  fileSystem: FileSystem,
  internal: string,
  prepareFolder: (folder: string) => void,
) {
  const folder = join(internal, 'erasing')
  return {
    /** @returns a function that takes the note away */
    begin(): () => void {
      const note = join(folder, ownedName())
      prepareFolder(folder)
      replaceFile(fileSystem, note, '')
      return () => void removeFile(fileSystem, note)
    },

    /** Notes of processes that were killed before the rebuild. */
    interrupted: (): string[] =>
      (namesIn(fileSystem, folder) ?? [])
        .map((name) => join(folder, name))
        .filter((path) => isAbandoned(fileSystem, path)),

    discard: (notes: readonly string[]): void => removeFiles(fileSystem, notes),
  }
}
