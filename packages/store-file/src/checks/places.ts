import type { FileStore } from '../file-store.ts'
import { entriesIn, type FileSystem, statusOf } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import { archiveName, copyOfArchive } from '../layout/layout.ts'
import { secondNames } from '../layout/second-names.ts'
import { sourcesOf } from '../layout/sources.ts'
import type { Report } from './report.ts'

/** Includes endings that other systems and tools use: only `.md` is read. */
const markdown = /\.(?:md|markdown)$/i

/** Reports notes and archives in places, or under names, that no search reads. */
export function checkPlaces(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { memory, archives } = store.layout
  report(
    'places',
    findUnread(fileSystem, store),
    'every markdown file is read',
    `move or rename them: ${memory}/*.md, ${memory}/<scope>/*.md and ${archives}/${archiveName(store.layout, 1)} are read`,
  )
}

function findUnread(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  const sources = new Map(sourcesOf(fileSystem, root, layout).map((source) => [source.path, source]))
  const again = secondNames(fileSystem, root, layout)
  const isElsewhere = (path: string): boolean =>
    path === layout.cold || path === layout.archives || again.has(path)
  const isRead = (folder: string, name: string): boolean =>
    sources.get(folder)?.accepts(name) === true ||
    [layout.window, layout.archiveIndex].includes(`${folder}/${name}`)
  const unreadBelow = (folder: string): string[] =>
    (entriesIn(fileSystem, fromShown(root, folder)) ?? []).flatMap((each) => {
      const path = `${folder}/${each.name}`
      if (each.name.startsWith('.') || isElsewhere(path)) return []
      if (isOutOfReach(fileSystem, root, path)) return [`${path} is not read: its name is not UTF-8`]
      if (each.isDirectory()) return unreadBelow(path)
      if (folder === layout.archives && copyOfArchive.test(each.name)) return []
      return markdown.test(each.name) && !isRead(folder, each.name) ? [`${path} is not read`] : []
    })
  return [layout.memory, layout.archives].flatMap(unreadBelow).sort()
}

/** Node lists a name that is not UTF-8 with U+FFFD in it, and cannot open a file by that name. */
const isOutOfReach = (fileSystem: FileSystem, root: string, path: string): boolean =>
  path.includes('\ufffd') && statusOf(fileSystem, fromShown(root, path)) === null
