import type { FileStore } from '../file-store.ts'
import { type FileSystem, orAbsent } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import { archiveName } from '../layout/layout.ts'
import { sourcesOf } from '../layout/sources.ts'
import { type Report, within } from './report.ts'

/** Reports notes and archives in places, or under names, that no search reads, and folders that have such a name. */
export function checkPlaces(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { memory, archives } = store.layout
  report(
    'places',
    [
      ...findUnread(fileSystem, store).map((path) => `${path} is not read`),
      ...foldersForFiles(fileSystem, store).map((path) => `${path} is a folder, and should be a file`),
    ],
    'every markdown file is read',
    `move or rename them: ${memory}/*.md, ${memory}/<scope>/*.md and ${archives}/${archiveName(store.layout, 1)} are read`,
  )
}

function foldersForFiles(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  return sourcesOf(fileSystem, root, layout).flatMap(({ path, accepts }) =>
    (orAbsent(() => fileSystem.readdirSync(fromShown(root, path), { withFileTypes: true })) ?? [])
      .filter((each) => each.isDirectory() && accepts(each.name))
      .map(({ name }) => within(path, name)),
  )
}

function findUnread(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  const sources = new Map(sourcesOf(fileSystem, root, layout).map((source) => [source.path, source]))
  const isRead = (folder: string, name: string): boolean =>
    sources.get(folder)?.accepts(name) === true ||
    [layout.window, layout.archiveIndex].includes(`${folder}/${name}`)
  const unreadBelow = (folder: string): string[] =>
    (orAbsent(() => fileSystem.readdirSync(fromShown(root, folder), { withFileTypes: true })) ?? []).flatMap(
      (each) => {
        const path = `${folder}/${each.name}`
        if (each.name.startsWith('.') || path === layout.cold || path === layout.archives) return []
        if (each.isDirectory()) return unreadBelow(path)
        return each.name.endsWith('.md') && !isRead(folder, each.name) ? [path] : []
      },
    )
  return [layout.memory, layout.archives].flatMap(unreadBelow).sort()
}
