import { join } from 'node:path'
import { type MemoryScope, memoryScopes } from '@recall/core'
import { modifiedAt } from '../files/file-stamp.ts'
import { namesIn } from '../files/file-system.ts'
import { missingRoot } from '../files/folders.ts'
import { folderOf, fromShown, shownPath } from '../files/paths.ts'
import type { Source } from '../layout/sources.ts'
import { removeSetAside } from '../sqlite/damage.ts'
import type { OpenDatabase } from '../sqlite/driver.ts'
import { createFileIndexer, type FileIndexerOptions } from './file-indexer.ts'
import { createFolderWalk } from './folder-walk.ts'
import { createFolderWatch, type ToldChanges } from './folder-watch.ts'
import { createIndexInUse, type IndexInUse } from './index-in-use.ts'
import { createOwnChanges } from './own-changes.ts'
import { indexName } from './seal.ts'
import type { SearchIndex } from './search-index.ts'
import { isWorn, renewWords } from './worn-words.ts'
import { openWriterNotes, writersName } from './writer-notes.ts'

/** Up to this many files are looked at one by one before every search: it takes a few milliseconds. */
const alwaysWalk = 2000
/** In larger memories a file edited in place by hand is found after at most this long. */
const longestUnwalkedMs = 60_000
const flushDelayMs = 100
/** A search renews the words of a scope of at most this many units, in about a second; otherwise `update` does. */
const mostRenewedBySearch = 5000

export interface MemoryIndexOptions extends FileIndexerOptions {
  openDatabase: OpenDatabase
  /** Receives a message, once, when an index was set aside or cannot be stored. */
  onNotice: (text: string) => void
  /** Runs a section while no other process runs one; waits at most this many milliseconds. */
  exclusively: <T>(section: () => T, patienceMs?: number) => T
  /** @throws MemoryError UNAVAILABLE when the memory is away */
  assertPresent(): void
  /** Creates a folder of the memory where it is missing. */
  prepareFolder(folder: string): void
}

export interface IndexProgress {
  done: number
  total: number
}

export type MemoryIndex = ReturnType<typeof createMemoryIndex>

/**
 * Keeps the derived index in step with the files. Writes are only noted; the next search brings the index up to date:
 * with what this store wrote, what other processes noted, and what people changed by hand.
 */
export function createMemoryIndex(options: MemoryIndexOptions) {
  const { fileSystem, root, layout, onNotice, exclusively } = options
  const folder = join(root, layout.internal)
  const indexer = createFileIndexer(options)
  const { sources, indexPaths } = indexer
  const { walk, walkAll } = createFolderWalk({ fileSystem, root, internal: folder, indexer })
  const notes = openWriterNotes(fileSystem, join(folder, writersName))
  const watch = createFolderWatch(fileSystem)
  const inUse = createIndexInUse({
    ...options,
    folder,
    // With another window or other archives, the same files are other memories.
    madeOf: JSON.stringify([layout.window, layout.archiveIndex, layout.archives]),
    isShared: () => notes.others().alive,
  })
  const own = createOwnChanges(fileSystem, root)
  let timer: NodeJS.Timeout | undefined
  /** The last look skipped folders whose files may have been edited in place. */
  let passedOver = false
  /** `undefined` outside `lookingOnce`; inside it, the index as the first look left it, `null` before that look. */
  let looked: SearchIndex | null | undefined

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (own.paths().size === 0) return
    const { index, temporary } = inUse.open()
    index.transaction(() => {
      indexPaths(index, own.paths())
      own.keepFoldersInStep(index)
    })
    own.clear()
    // A temporary index is ours alone: other processes still need the notes.
    if (!temporary) notes.done()
  }

  const absorbOthers = ({ index, temporary }: IndexInUse): void => {
    const { paths, abandoned } = notes.others()
    if (paths.length > 0) index.transaction(() => indexPaths(index, new Set(paths)))
    if (!temporary) notes.discard(abandoned)
  }

  /** Looks at every file, however large the memory. */
  const lookEverywhere = (current: IndexInUse, progress?: (files: number) => void): void => {
    const started = Date.now()
    const files = walkAll(current.index, progress)
    inUse.walked(current, started, files > alwaysWalk)
    passedOver = false
  }

  /** Folders in which any change to the memory shows, including those that may get subfolders. */
  const watchedFolders = (): string[] => {
    const paths = sources().map(({ path }) => path)
    const namespaces = `${layout.memory}/namespaces`
    const ofNamespaces = paths.map(folderOf).filter((path) => folderOf(path) === namespaces)
    const watched = new Set([...paths, namespaces, ...ofNamespaces])
    return [...[...watched].map((path) => fromShown(root, path)), join(folder, writersName)]
  }

  /**
   * @param isSettled pending events have arrived. If not, and under the lock they cannot, the changes of other
   * processes are read from their notes
   */
  const bringUpToDate = (isSettled: boolean): IndexInUse => {
    const before = inUse.opened()
    const current = inUse.open()
    return inUse.holding(current, () => {
      const isQuiet = current === before && current.walkedAt > 0 && watch.isQuiet()
      if (!isQuiet) {
        const checked = watch.checked(watchedFolders, check)
        renewWords(checked.index, indexPaths, mostRenewedBySearch)
        return checked
      }
      flush()
      if (!isSettled) absorbOthers(current)
      return current
    })
  }

  /** Brings the index up to date; in a large memory, without looking at every file each time. */
  const check = ({ named, areAll, tooMany }: ToldChanges): IndexInUse => {
    if (!fileSystem.existsSync(root)) throw missingRoot(root)
    const current = inUse.open()
    const { index } = current
    flush()
    absorbOthers(current)
    const shown = named.map((path) => shownPath(root, path))
    if (shown.length > 0) index.transaction(() => indexPaths(index, shown))
    if (areAll && current.walkedAt > 0) return current
    const age = Date.now() - current.walkedAt
    const isDue = tooMany || age > longestUnwalkedMs || age < 0
    if (isDue || index.countFiles() <= alwaysWalk) lookEverywhere(current)
    else lookWhereItMatters(index)
    return current
  }

  /** Looks at the files of small folders, and of folders in which a file was added or removed. */
  const lookWhereItMatters = (index: SearchIndex): void => {
    const states = new Map(index.folders().map((state) => [state.path, state]))
    passedOver = false
    for (const source of sources()) {
      const state = states.get(source.path)
      const isSmall = (state?.count ?? 0) <= alwaysWalk
      if (isSmall || modifiedAt(fileSystem, fromShown(root, source.path)) !== state?.modified)
        walk(index, source)
      else passedOver = true
    }
  }

  const countFiles = (source: Source): number => {
    const names = namesIn(fileSystem, fromShown(root, source.path)) ?? []
    return names.filter((name) => source.accepts(name)).length
  }

  const closeIndex = (): void => {
    clearTimeout(timer)
    timer = undefined
    inUse.close()
  }

  /** Notes that a file is about to change. Call `changed` when it has. */
  const changing = (path: string): void => {
    notes.add(path)
    own.changing(path)
  }

  const changed = (path: string): void => {
    own.changed(path)
    timer ??= setTimeout(() => {
      try {
        inUse.guarded(flush)
      } catch (error) {
        onNotice(`the search index could not be brought up to date: ${(error as Error).message}`)
      }
    }, flushDelayMs).unref()
  }

  return {
    /** Lets pending file-system events arrive; searches await it first. */
    settle: (): Promise<void> => watch.settle(),

    /** The index, in step with the files. */
    fresh(): SearchIndex {
      if (looked) return looked
      const { index } = inUse.guarded(() => bringUpToDate(false))
      if (looked === null) looked = index
      return index
    },

    /** Runs a section that changes no file, and in which only the first `fresh` looks at the files. */
    lookingOnce<T>(section: () => T): T {
      looked = null
      try {
        return section()
      } finally {
        looked = undefined
      }
    },

    /**
     * Runs a query; on a damaged index it runs again on a new one.
     *
     * @param isSettled `settle` was awaited just before
     */
    query<T>(call: (index: SearchIndex) => T, isSettled = false): T {
      const held = inUse.held()
      if (held) return call(held.index)
      return inUse.guarded(() => {
        const current = bringUpToDate(isSettled)
        return inUse.holding(current, () => call(current.index))
      })
    },

    /** The index as it is, for look-ups by key that the caller verifies. */
    asIs: (): SearchIndex => inUse.open().index,

    changing,
    changed,

    /** Changes files, and notes that before and after. */
    whileChanging(paths: readonly string[], change: () => void): void {
      for (const path of paths) changing(path)
      try {
        change()
      } finally {
        // Also on failure: the new file may be in place although syncing its folder failed.
        for (const path of paths) changed(path)
      }
    },

    flush: (): void => inUse.guarded(flush),

    /** Rebuilds the index from all files, and removes damaged ones that were set aside. */
    rebuild(progress?: (progress: IndexProgress) => void): void {
      closeIndex()
      inUse.remove()
      const current = inUse.open()
      const total = sources().reduce((sum, source) => sum + countFiles(source), 0)
      let done = 0
      progress?.({ done, total })
      lookEverywhere(current, (files) => {
        done += files
        progress?.({ done, total })
      })
      exclusively(() => removeSetAside(fileSystem, join(folder, indexName)))
    },

    /** Whether the index may still lack a file that was edited in place within the last minute. */
    mayLag: (): boolean => passedOver,

    /** Whether the index is in a file: one in memory ends with this store. */
    isKept: (): boolean => !inUse.open().temporary,

    /** Scopes whose words `update` indexes again, because too many units were removed from them. */
    worn: (): MemoryScope[] => {
      const index = inUse.open().index
      return memoryScopes.filter((scope) => isWorn(index, scope))
    },

    /** Checks the index page by page. @returns what is wrong with it, or `null` */
    damage: (): string | null => (inUse.isWhole() ? null : 'the index is damaged'),

    /** Looks at every file now, however large the memory. */
    update(): void {
      inUse.guarded(() => {
        const current = inUse.open()
        inUse.holding(current, () => {
          flush()
          absorbOthers(current)
          lookEverywhere(current)
          renewWords(current.index, indexPaths)
        })
      })
    },

    /** Never fails: changes that could not be indexed stay noted for the next search. */
    close(): void {
      const isTemporary = inUse.opened()?.temporary ?? false
      watch.close()
      try {
        inUse.guarded(flush)
        closeIndex()
      } catch (error) {
        onNotice(`the search index could not be brought up to date: ${(error as Error).message}`)
      }
      try {
        inUse.drop()
        notes.close(own.paths().size > 0 || isTemporary)
      } catch (error) {
        onNotice(`${folder} could not be tidied up: ${(error as Error).message}`)
      }
    },
  }
}
