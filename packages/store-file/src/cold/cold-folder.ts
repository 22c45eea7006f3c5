import { basename, dirname, join } from 'node:path'
import { orAbsent } from '@recall/core/process'
import { isLeftover, removeFile } from '../files/atomic-write.ts'
import { type FileSystem, reading, statusOf } from '../files/file-system.ts'
import { fromShown, shownPath } from '../files/paths.ts'
import type { Layout } from '../layout/layout.ts'
import { packedEnding } from './packed-entry.ts'

interface Rooted {
  root: string
  layout: Layout
}

/** Every archived file, relative to the root. */
export const archivedFiles = (fileSystem: FileSystem, store: Rooted): string[] =>
  everyFile(fileSystem, store)
    .filter((path) => path.endsWith(packedEnding))
    .sort()

/** Files, relative to the root, that dead processes left unfinished among archived ones. */
export function archivedLeftovers(fileSystem: FileSystem, store: Rooted): string[] {
  // Where a link leads to another place, nothing is ours to delete.
  if (!statusOf(fileSystem, fromShown(store.root, store.layout.cold))?.isDirectory()) return []
  return everyFile(fileSystem, store).filter((shown) => {
    const path = fromShown(store.root, shown)
    return isLeftover(fileSystem, dirname(path), basename(path))
  })
}

/** They hold what was to be archived, perhaps something that is to be forgotten. */
export function sweepArchived(fileSystem: FileSystem, store: Rooted): void {
  for (const path of archivedLeftovers(fileSystem, store)) removeFile(fileSystem, fromShown(store.root, path))
}

function everyFile(fileSystem: FileSystem, { root, layout }: Rooted): string[] {
  const folder = fromShown(root, layout.cold)
  const list = () => fileSystem.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const found = reading(fileSystem, folder, () => orAbsent(list)) ?? []
  return found.map((name) => shownPath(root, join(folder, name)))
}
