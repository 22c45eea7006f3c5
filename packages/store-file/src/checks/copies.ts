import type { FileStore } from '../file-store.ts'
import { type FileSystem, namesIn } from '../files/file-system.ts'
import { folderOf, fromShown } from '../files/paths.ts'
import { archiveFoldersOf } from '../layout/layout.ts'
import { sourcesOf } from '../layout/sources.ts'
import { type Report, within } from './report.ts'

/** How Syncthing, Dropbox and Nextcloud name the later version of a file that two machines changed. */
const copyOf = /^(.+?)(?:\.sync-conflict-\d{8}-\d{6}-\w+| \([^)]*conflict[^)]*\))\.md$/i

/** Reports second versions of files, which would otherwise be read as separate notes and topics, or not at all. */
export function checkCopies(fileSystem: FileSystem, { root, layout }: FileStore, report: Report): void {
  const sources = sourcesOf(fileSystem, root, layout).map(({ path }) => path)
  const folders = new Set([...sources, folderOf(layout.archiveIndex)])
  for (const archives of archiveFoldersOf(layout)) folders.delete(archives)
  const problems = [...folders].flatMap((folder) =>
    (namesIn(fileSystem, fromShown(root, folder)) ?? []).sort().flatMap((name) => {
      const original = copyOf.exec(name)?.[1]
      if (original === undefined) return []
      return [`${within(folder, name)} is another version of ${within(folder, `${original}.md`)}`]
    }),
  )
  report(
    'copies',
    problems,
    'none that a file syncer left',
    'put what the first version lacks into it, and delete the copy',
  )
}
