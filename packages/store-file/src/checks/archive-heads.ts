import { orAbsent } from '@recall/core/process'
import { parseConversation } from '../documents/conversation.ts'
import type { FileStore } from '../file-store.ts'
import type { FileSystem } from '../files/file-system.ts'
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

/** What an archive says of itself, read without its body. */
export interface ArchiveHead {
  folder: string
  name: string
  /** Below the root. */
  path: string
  number: number
  /** Which session it says that it holds, if it does, and which part of it. */
  session?: string
  part: number
  /** Version control left both sides of a merge in it. */
  isMerged: boolean
}

/** Most archives have a tenth of it. */
const headLength = 8 * 1024

/** The archives of a memory, or what is named otherwise in their folders, by folder and number. */
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
    (orAbsent(() => fileSystem.readdirSync(fromShown(root, folder))) ?? [])
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

/** Where an archive may be put that has no number of its own, below the root. */
export function nextArchivePath(fileSystem: FileSystem, store: FileStore): string {
  const numbers = archivePlaces(fileSystem, store, archiveFile).map(({ name }) => archiveNumber(name))
  const pathOf = (number: number): string => within(store.layout.archives, archiveName(store.layout, number))
  let next = 1 + numbers.reduce((most, number) => Math.max(most, number), 0)
  // Where case is ignored, a file that is no archive may have the name.
  while (fileSystem.existsSync(fromShown(store.root, pathOf(next)))) next++
  return pathOf(next)
}
