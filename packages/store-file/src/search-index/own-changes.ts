import { lastingTime, modifiedAt } from '../files/file-stamp.ts'
import type { FileSystem } from '../files/file-system.ts'
import { folderOf, fromShown } from '../files/paths.ts'
import type { SearchIndex } from './search-index.ts'

/** Modification times of a folder around the changes that this store made in it. */
interface FolderChange {
  before: number
  after: number
  /** `after`, in the form that the index stores. */
  lasting: number
  /** Somebody else changed the folder in between. */
  broken: boolean
}

/** The files that this store changed and that its index has not seen yet. */
export function createOwnChanges(fileSystem: FileSystem, root: string) {
  const paths = new Set<string>()
  const folders = new Map<string, FolderChange>()
  const timeOf = (folder: string): number => modifiedAt(fileSystem, fromShown(root, folder))

  return {
    paths: (): ReadonlySet<string> => paths,

    /** Notes that a file is about to change. Call `changed` when it has. */
    changing(path: string): void {
      const folder = folderOf(path)
      const before = timeOf(folder)
      const known = folders.get(folder)
      if (!known) folders.set(folder, { before, after: before, lasting: before, broken: false })
      else if (known.after !== before) known.broken = true
    },

    changed(path: string): void {
      paths.add(path)
      const folder = folders.get(folderOf(path))
      if (!folder) return
      const now = Date.now()
      folder.after = timeOf(folderOf(path))
      folder.lasting = lastingTime(folder.after, now)
    },

    /** Marks folders as in step, in an index that now has the changed files, unless somebody else changed them. */
    keepFoldersInStep(index: SearchIndex): void {
      for (const [path, { before, lasting, broken }] of folders) {
        const state = index.folder(path)
        if (!broken && state.modified === before) index.folderModified(state.id, lasting)
      }
    },

    clear(): void {
      paths.clear()
      folders.clear()
    },
  }
}
