import { orAbsent } from '@recall/core/process'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import { archiveFoldersOf, type Layout } from './layout.ts'

/**
 * Folders of archives that are really another one under a second name: through a link, or where case is ignored. Their
 * content counts once; otherwise each archive would be a copy of itself.
 */
export function secondNames(fileSystem: FileSystem, root: string, layout: Layout): Set<string> {
  const there = archiveFoldersOf(layout).filter((folder) => fileSystem.existsSync(fromShown(root, folder)))
  if (there.length < 2) return new Set()
  const seen = new Set<string | null>()
  return new Set(
    there.filter((folder) => {
      const identity = orAbsent(() => identityOf(fileSystem, fromShown(root, folder)))
      return seen.size === seen.add(identity).size
    }),
  )
}

/** File numbers are not exact on Windows, and Linux treats a path that differs in case as a different one. */
function identityOf(fileSystem: FileSystem, folder: string): string {
  const real = fileSystem.realpathSync.native(folder)
  return `${statusOf(fileSystem, real)?.ino} ${real.toLowerCase()}`
}
