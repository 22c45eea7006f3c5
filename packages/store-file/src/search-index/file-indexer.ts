import { basename, join } from 'node:path'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { lastingStamp, neverRead, stampAt } from '../files/file-stamp.ts'
import type { FileSystem } from '../files/file-system.ts'
import { folderOf, fromShown, isInside } from '../files/paths.ts'
import { readText, type TextFile } from '../files/read-text.ts'
import type { Layout } from '../layout/layout.ts'
import { type LocatedEntry, type Source, sourcesOf } from '../layout/sources.ts'
import type { NamedFile } from './claims.ts'
import type { IndexedFile } from './document-writer.ts'
import type { SearchIndex } from './search-index.ts'

export interface FileIndexerOptions {
  fileSystem: FileSystem
  root: string
  layout: Layout
  /** The expiry of an entry as postponed by reads; consulted when the entry is indexed. */
  slidExpiry: (scope: string, namespace: string, key: string, updated: number) => number | null
}

export type FileIndexer = ReturnType<typeof createFileIndexer>

/** Reads files into the index, and removes missing ones from it. */
export function createFileIndexer({ fileSystem, root, layout, slidExpiry }: FileIndexerOptions) {
  const sources = (): Source[] => sourcesOf(fileSystem, root, layout)

  const entriesIn = (source: Source, name: string, { content, stamp }: TextFile): LocatedEntry[] =>
    source.parse(name, content, { modified: Math.round(stamp.modified) }).map((entry) => {
      if (entry.ttl === null || entry.expires === null) return entry
      const slid = slidExpiry(entry.scope, entry.namespace, entry.key, entry.updated)
      return { ...entry, expires: Math.max(entry.expires, slid ?? 0) }
    })

  /** Reads one file into the index, or removes it from there when the file is gone. */
  const indexFile = (
    index: SearchIndex,
    source: Source,
    folder: number,
    name: string,
    seen = stampAt(fileSystem, join(fromShown(root, source.path), name)),
  ): void => {
    if (!seen) {
      readAgain(index, index.removeFile(folder, name))
      return
    }
    const now = Date.now()
    let file: TextFile | null
    try {
      file = readText(fileSystem, join(fromShown(root, source.path), name))
    } catch (error) {
      // The key it claimed is given to no other file: it may become readable again.
      index.putFile(unreadable({ folder, name, stamp: seen }, error as Error))
      return
    }
    if (!file) return
    const entries = entriesIn(source, name, file)
    readAgain(index, index.putFile({ folder, name, ...file, stamp: lastingStamp(file.stamp, now), entries }))
  }

  /** Lets files take over a key that another file had, the oldest copy of an archive first. */
  const readAgain = (index: SearchIndex, files: readonly NamedFile[]): void => {
    for (const { folder, name } of files) {
      index.forgetHash(folder, name)
      const path = index.folders().find(({ id }) => id === folder)?.path
      const source = sources().find((candidate) => candidate.path === path)
      if (source) indexFile(index, source, folder, name)
    }
  }

  /** Indexes the named files, given by their paths below the root. */
  const indexPaths = (index: SearchIndex, paths: Iterable<string>): void => {
    const known = new Map(sources().map((source) => [source.path, source]))
    const there = new Map<string, boolean>()
    /** In a folder that is missing, or leads elsewhere, nothing is indexed or removed: the walk reports the problem. */
    const isThere = (folder: string): boolean => {
      const found = there.get(folder) ?? isInside(fileSystem, root, fromShown(root, folder))
      there.set(folder, found)
      return found
    }
    for (const path of paths) {
      const source = known.get(folderOf(path))
      if (!source?.accepts(basename(path)) || !isThere(source.path)) continue
      indexFile(index, source, index.folder(source.path).id, basename(path))
    }
  }

  return { sources, indexFile, indexPaths }
}

/**
 * Unreadable is not empty: the file stays known together with its problem, and is read again when it changes, or at
 * every check when the cause may lie outside the file.
 */
function unreadable(file: Pick<IndexedFile, 'folder' | 'name' | 'stamp'>, error: Error): IndexedFile {
  const mayPass = !isMemoryError(error) || error.code === MemoryErrorCode.UNAVAILABLE
  return {
    ...file,
    stamp: mayPass ? { ...file.stamp, changed: neverRead } : file.stamp,
    bytes: Buffer.from(String(error)),
    content: '',
    entries: [],
    problem: error.message,
  }
}
