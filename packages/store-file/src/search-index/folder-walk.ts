import { join, sep } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { isLeftover, temporaryName } from '../files/atomic-write.ts'
import { createStampList, type FileStamp, lastingTime, modifiedAt, stampAt } from '../files/file-stamp.ts'
import { type FileSystem, namesIn, statusOf, unreadable } from '../files/file-system.ts'
import { fromShown, isInside } from '../files/paths.ts'
import { journalPath } from '../files/transaction.ts'
import type { Source } from '../layout/sources.ts'
import type { FileIndexer } from './file-indexer.ts'
import type { SearchIndex } from './search-index.ts'

/** A large change of the index holds up other processes by this many files at a time. */
export const filesPerTransaction = 5000

export interface FolderWalkOptions {
  fileSystem: FileSystem
  root: string
  /** Folder of the index. */
  internal: string
  indexer: FileIndexer
}

/** Compares the files of folders with what the index knows of them, and indexes those that differ. */
export function createFolderWalk({ fileSystem, root, internal, indexer }: FolderWalkOptions) {
  const { sources, indexFile } = indexer

  /** Looks at every file of a folder; returns how many there are. */
  const walk = (index: SearchIndex, source: Source, progress?: (files: number) => void): number => {
    const path = fromShown(root, source.path)
    const begun = Date.now()
    // Most folders that may hold memory do not exist, and resolving a path that does not exist is slow.
    const isThere = statusOf(fileSystem, path) !== null && isInside(fileSystem, root, path)
    const modified = isThere ? modifiedAt(fileSystem, path) : undefined
    const state = index.knownFolder(source.path)
    if (modified === undefined) {
      if (state && state.count > 0) forgetMoved(index, source, state.count)
      return 0
    }
    const { listed, unfinished } = list(path, source)
    for (const name of unfinished) sweepTemporary(path, name)
    const inStep = state !== undefined && state.count === listed.count() && state.sum === listed.sum()
    if (inStep && state.modified === modified) return listed.count()
    const { id } = index.transaction(() => index.folder(source.path))
    if (!inStep) indexChanges(index, source, id, listed.differences(index.stamps(id)), progress)
    index.transaction(() => index.folderModified(id, lastingTime(modified, begun)))
    return listed.count()
  }

  /** @throws MemoryError UNAVAILABLE unless all files of a missing folder lie in another one */
  const forgetMoved = (index: SearchIndex, source: Source, count: number): void => {
    const { id } = index.transaction(() => index.folder(source.path))
    const known = [...index.stamps(id)]
    const isIn = (folder: string): boolean =>
      known.length === count &&
      known.every(({ name, size, modified }) => {
        const now = stampAt(fileSystem, join(fromShown(root, folder), name))
        return now !== null && now.size === size && now.modified === modified
      })
    if (!source.others?.some(isIn)) throw missingFolder(fromShown(root, source.path), count)
    indexChanges(index, source, id, new Map(known.map(({ name }) => [name, null])))
  }

  /** The files of a folder that belong to the memory, and the names of unfinished ones. */
  const list = (path: string, source: Source) => {
    const listed = createStampList()
    const unfinished: string[] = []
    for (const name of eachNameIn(path)) {
      if (temporaryName.test(name)) unfinished.push(name)
      else if (source.accepts(name)) {
        // Not `join`: normalising paths that are already normal takes a fifth of the walk's time.
        const stamp = stampAt(fileSystem, `${path}${sep}${name}`)
        if (stamp) listed.add(name, stamp)
      }
    }
    return { listed, unfinished }
  }

  const indexChanges = (
    index: SearchIndex,
    source: Source,
    folder: number,
    changes: ReadonlyMap<string, FileStamp | null>,
    progress?: (files: number) => void,
  ): void => {
    const names = [...changes.keys()].sort()
    for (let i = 0; i < names.length; i += filesPerTransaction) {
      const some = names.slice(i, i + filesPerTransaction)
      index.transaction(() => {
        // A file that seems gone is looked up by name: it may have been replaced while the folder was listed.
        for (const name of some) indexFile(index, source, folder, name, changes.get(name) ?? undefined)
      })
      progress?.(some.length)
    }
  }

  /** One by one: the names of a hundred thousand files at once take 15 MB until the process ends. */
  function* eachNameIn(path: string): Generator<string> {
    try {
      const folder = fileSystem.opendirSync(path)
      try {
        for (let entry = folder.readSync(); entry; entry = folder.readSync()) yield entry.name
      } finally {
        folder.closeSync()
      }
    } catch (cause) {
      throw unreadable(fileSystem, path, cause)
    }
  }

  /** A file that a dead process left unfinished was never acknowledged, unless its journal says so. */
  const sweepTemporary = (path: string, name: string): void => {
    if (!isLeftover(fileSystem, path, name) || fileSystem.existsSync(journalPath(internal))) return
    try {
      fileSystem.unlinkSync(join(path, name))
    } catch {}
  }

  /** Looks at every file of the memory; returns how many there are. */
  const walkAll = (index: SearchIndex, progress?: (files: number) => void): number => {
    let files = 0
    for (const source of sources()) files += walk(index, source, progress)
    assertNoneMissing(index)
    for (const name of namesIn(fileSystem, internal) ?? []) sweepTemporary(internal, name)
    return files
  }

  /** A missing folder of another namespace is no longer among the sources, but the index knows its entries. */
  const assertNoneMissing = (index: SearchIndex): void => {
    const known = index.folders().filter(({ count }) => count > 0)
    // Listed last: meanwhile another process may have made a folder and indexed it.
    const present = new Set(sources().map(({ path }) => path))
    const missing = known.find(({ path }) => !present.has(path))
    if (missing) throw missingFolder(fromShown(root, missing.path), missing.count)
  }

  return { walk, walkAll }
}

function missingFolder(path: string, count: number): MemoryError {
  const lost = count === 1 ? '1 file was' : `${count} files were`
  return new MemoryError(
    `${path} is missing, but ${lost} there: put it back, or run 'recall reindex --full' to accept the loss`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path } },
  )
}
