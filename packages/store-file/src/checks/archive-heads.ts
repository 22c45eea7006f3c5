import { parseConversation } from '../documents/conversation.ts'
import type { FileStore } from '../file-store.ts'
import { type FileSystem, namesIn } from '../files/file-system.ts'
import { fromShown, isInside } from '../files/paths.ts'
import { readBeginning } from '../files/read-text.ts'
import {
  archiveFile,
  archiveFoldersOf,
  archiveName,
  archiveNumber,
  compareArchives,
  type Layout,
} from '../layout/layout.ts'
import { secondNames } from '../layout/second-names.ts'
import { within } from './report.ts'

/** What an archive says about itself, read without its body. */
export interface ArchiveHead {
  folder: string
  name: string
  /** Below the root. */
  path: string
  number: number
  /** The session that it says it holds, if it names one, and which part of it. */
  session?: string
  part: number
  /** Version control left both sides of a merge in it. */
  isMerged: boolean
}

/** In most archives the front matter takes a tenth of this. */
const headLength = 8 * 1024

/** The archives of a memory, or the files that `named` matches in their folders, by folder and number. */
export const archiveHeads = (fileSystem: FileSystem, store: FileStore, named = archiveFile): ArchiveHead[] =>
  archivePlaces(fileSystem, store, named).map(({ folder, name }) => {
    const path = within(folder, name)
    const beginning = readBeginning(fileSystem, fromShown(store.root, path), headLength) ?? ''
    return { folder, name, path, number: archiveNumber(name), ...factsIn(beginning, name) }
  })

const archivePlaces = (
  fileSystem: FileSystem,
  { root, layout }: FileStore,
  named: RegExp,
): Pick<ArchiveHead, 'folder' | 'name'>[] =>
  foldersOf(fileSystem, root, layout).flatMap((folder) =>
    (namesIn(fileSystem, fromShown(root, folder)) ?? [])
      .filter((name) => named.test(name))
      .sort(compareArchives)
      .map((name) => ({ folder, name })),
  )

function foldersOf(fileSystem: FileSystem, root: string, layout: Layout): string[] {
  const again = secondNames(fileSystem, root, layout)
  return archiveFoldersOf(layout).filter(
    (folder) => !again.has(folder) && isInside(fileSystem, root, fromShown(root, folder)),
  )
}

function factsIn(beginning: string, name: string): Pick<ArchiveHead, 'session' | 'part' | 'isMerged'> {
  const { session, part = 1 } = parseConversation(beginning, archiveNumber(name), name, { modified: 0 })
  const isMerged = /^(?:---[ \t]*\r?\n(?:(?!---).*\n)*?)?<{7} /.test(beginning)
  return { ...(session === undefined ? {} : { session }), part, isMerged }
}

/** A free path, below the root, for an archive that has no number of its own. */
export function nextArchivePath(fileSystem: FileSystem, store: FileStore): string {
  const numbers = archivePlaces(fileSystem, store, archiveFile).map(({ name }) => archiveNumber(name))
  const pathOf = (number: number): string => within(store.layout.archives, archiveName(store.layout, number))
  let next = 1 + numbers.reduce((most, number) => Math.max(most, number), 0)
  // Where case is ignored, a file that is not an archive may have the name.
  while (fileSystem.existsSync(fromShown(store.root, pathOf(next)))) next++
  return pathOf(next)
}
