import { join } from 'node:path'
import { parsePacked } from '../cold/cold-files.ts'
import { archivedFiles } from '../cold/cold-folder.ts'
import type { FileStore } from '../file-store.ts'
import type { FileSystem } from '../files/file-system.ts'
import type { Report } from './report.ts'

/** Reports archived entries that cannot be read: a single one makes every pass over all of them fail. */
export function checkArchived(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const files = archivedFiles(fileSystem, store)
  const isReadable = (path: string): boolean => {
    try {
      parsePacked(fileSystem.readFileSync(join(store.root, path)))
      return true
    } catch {
      return false
    }
  }
  report(
    'archived entries',
    files.filter((path) => !isReadable(path)).map((path) => `${path} cannot be unpacked`),
    `${files.length} can be read`,
    'put them back from a backup, or move them away',
  )
}
