import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { modifiedAt } from '../files/file-stamp.ts'
import { orAbsent } from '../files/file-system.ts'
import { folderOf, fromShown, shownPath } from '../files/paths.ts'
import type { Source } from '../layout/sources.ts'
import { comesOfDamage, passesCheck, removeSetAside, setAside } from '../sqlite/damage.ts'
import type { OpenDatabase } from '../sqlite/driver.ts'
import { isEmptied, isUnwritable } from '../sqlite/errors.ts'
import { createFileIndexer, type FileIndexerOptions } from './file-indexer.ts'
import { createFolderWalk } from './folder-walk.ts'
import { createFolderWatch } from './folder-watch.ts'
import {
  closeIndexFile,
  inodeOf,
  isIntact,
  isSealed,
  type OpenedIndex,
  openIndexFile,
  openTemporaryIndex,
  removeIndexFile,
} from './index-file.ts'
import { indexName } from './seal.ts'
import { createSearchIndex, type SearchIndex } from './search-index.ts'
import { openWriterNotes } from './writer-notes.ts'

/** Up to this many files are looked at one by one before every search: it takes a few milliseconds. */
const alwaysWalk = 2000
/** In larger memories a file edited in place by hand is found after at most this long. */
const longestUnwalkedMs = 60_000
const flushDelayMs = 100

export interface MemoryIndexOptions extends FileIndexerOptions {
  openDatabase: OpenDatabase
  /** Receives a message, once, when an index was set aside or cannot be stored. */
  onNotice: (text: string) => void
  /** Runs a section that no other process runs at the same time. */
  exclusively: <T>(section: () => T) => T
}

export interface IndexProgress {
  done: number
  total: number
}

export type MemoryIndex = ReturnType<typeof createMemoryIndex>

/**
 * Keeps the derived index in step with the files. Writes are only noted; whoever searches first brings the
 * index up to date: with what this store wrote, what other processes noted, and what people changed by hand.
 */
export function createMemoryIndex(options: MemoryIndexOptions) {
  const { fileSystem, root, layout, openDatabase, onNotice, exclusively } = options
  const folder = join(root, layout.internal)
  const indexPath = join(folder, indexName)
  /** What an index was made of. With another window or other archives, the same files are other memories. */
  const places = JSON.stringify([layout.window, layout.archiveIndex, layout.archives])
  const indexer = createFileIndexer(options)
  const { sources, indexPaths } = indexer
  const { walk, walkAll } = createFolderWalk({ fileSystem, root, internal: folder, indexer })
  const notes = openWriterNotes(fileSystem, join(folder, 'writers'))
  const watch = createFolderWatch(fileSystem)
  const pending = new Set<string>()
  const ownChanges = new Map<string, { before: number; after: number; broken: boolean }>()
  let opened: (OpenedIndex & { index: SearchIndex; inode: number }) | undefined
  let lastWalk = 0
  let timer: NodeJS.Timeout | undefined
  /** Within `lookingOnce`: the index as the first look left it. */
  let looked: SearchIndex | null | undefined
  /** Within `holding`: the index that is in use, whatever others put in its place meanwhile. */
  let held: SearchIndex | undefined

  const open = (): SearchIndex => {
    if (held) return held
    if (opened && !isCurrent()) {
      // The file was deleted or replaced: the one we hold open is no longer anybody's index.
      opened.database.close()
      opened = undefined
    }
    if (opened) return opened.index
    const inUse = notes.others().alive
    const file = openIndexFile({ fileSystem, openDatabase, folder, inUse, exclusively })
    const index = use(file)
    if (index.fact('layout') !== places) {
      file.database.close()
      opened = undefined
      exclusively(() => removeIndexFile(fileSystem, openDatabase, folder))
      return open()
    }
    if (file.notice) onNotice(file.notice)
    if (file.temporary) onNotice(`${folder} cannot be written: the search index is kept in memory`)
    return index
  }

  /** Runs a section in which every part has the same index. */
  const holding = <T>(index: SearchIndex, section: () => T): T => {
    const outer = held
    held = index
    try {
      return section()
    } finally {
      held = outer
    }
  }

  const use = (file: OpenedIndex): SearchIndex => {
    const inode = file.temporary ? 0 : (inodeOf(fileSystem, indexPath) ?? 0)
    const index = createSearchIndex(file.database)
    // Before anything is asked of it: `guarded` sets aside what is open when a query meets damage.
    opened = { ...file, index, inode }
    if (index.fact('layout') === undefined) index.transaction(() => index.setFact('layout', places))
    lastWalk = file.isNew || file.unclean ? 0 : Number(index.fact('walked') ?? 0)
    return index
  }

  const isCurrent = (): boolean =>
    opened !== undefined && (opened.temporary || inodeOf(fileSystem, indexPath) === opened.inode)

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (pending.size === 0) return
    const index = open()
    index.transaction(() => {
      indexPaths(index, pending)
      for (const [path, change] of ownChanges) {
        const state = index.folder(path)
        // We made the only changes since the folder was last in step, so its new time is in step, too.
        if (!change.broken && state.modified === change.before) index.folderModified(state.id, change.after)
      }
    })
    pending.clear()
    ownChanges.clear()
    // A temporary index is ours alone: other processes still need the notes.
    if (!opened?.temporary) notes.done()
  }

  const absorbOthers = (index: SearchIndex): void => {
    const { paths, abandoned } = notes.others()
    if (paths.length > 0) index.transaction(() => indexPaths(index, new Set(paths)))
    notes.discard(abandoned)
  }

  /** Looks at every file, however large the memory. */
  const lookEverywhere = (index: SearchIndex, progress?: (files: number) => void): void => {
    const started = Date.now()
    const files = walkAll(index, progress)
    lastWalk = started
    if (files > alwaysWalk) index.transaction(() => index.setFact('walked', String(started)))
  }

  /** Folders in which any change to the memory shows, including those that may get subfolders. */
  const watchedFolders = (): string[] => [
    ...sources().map(({ path }) => fromShown(root, path)),
    join(root, layout.memory, 'namespaces'),
    join(folder, 'writers'),
  ]

  /**
   * @param isSettled notices that were waiting have arrived. If not, and under the lock they cannot, what others wrote
   * is looked up in their notes
   */
  const bringUpToDate = (isSettled: boolean): SearchIndex => {
    const before = opened
    const index = open()
    return holding(index, () => {
      const isQuiet = opened === before && lastWalk > 0 && watch.isQuiet()
      if (!isQuiet) return watch.checked(watchedFolders, check)
      flush()
      if (!isSettled) absorbOthers(index)
      return index
    })
  }

  /** Brings the index up to date, in a large memory without looking at every file each time. */
  const check = (named: readonly string[], areAll: boolean): SearchIndex => {
    if (!fileSystem.existsSync(root)) throw missingRoot(root)
    const index = open()
    flush()
    absorbOthers(index)
    const shown = named.map((path) => shownPath(root, path))
    if (shown.length > 0) index.transaction(() => indexPaths(index, shown))
    if (areAll && lastWalk > 0) return index
    const total = index.countFiles()
    const age = Date.now() - lastWalk
    if (total <= alwaysWalk || age > longestUnwalkedMs || age < 0) lookEverywhere(index)
    else {
      const states = new Map(index.folders().map((state) => [state.path, state]))
      for (const source of sources()) {
        const state = states.get(source.path)
        const isSmall = (state?.count ?? 0) <= alwaysWalk
        if (isSmall || modifiedAt(fileSystem, fromShown(root, source.path)) !== state?.modified)
          walk(index, source)
      }
    }
    return index
  }

  /**
   * Runs a call on the index. If the index is damaged, it is set aside and rebuilt, once; if it cannot be written, for
   * example on a full disk, one in memory takes its place, so that the memory can still be searched.
   */
  const guarded = <T>(call: () => T): T => {
    try {
      return call()
    } catch (error) {
      const damaged = opened
      if (damaged && held === undefined && isEmptied(error)) {
        damaged.database.close()
        opened = undefined
        return call()
      }
      if (!damaged || damaged.temporary || !comesOfDamage(error, () => isIntact(openDatabase, folder)))
        return inMemory(error, call)
      damaged.database.close()
      opened = undefined
      try {
        exclusively(() => {
          if (inodeOf(fileSystem, indexPath) !== damaged.inode) return
          onNotice(
            `the search index was damaged: it was moved to ${setAside(fileSystem, indexPath)} and is built anew`,
          )
        })
      } catch (cause) {
        if (!isUnwritable(cause)) throw cause
        useMemory(cause)
      }
      return call()
    }
  }

  const inMemory = <T>(error: unknown, call: () => T): T => {
    if (!isUnwritable(error) || !opened || opened.temporary) throw error
    opened.database.close()
    useMemory(error)
    return call()
  }

  const useMemory = (error: unknown): void => {
    onNotice(
      `${indexPath} cannot be written (${(error as Error).message}): the search index is kept in memory`,
    )
    use(openTemporaryIndex(openDatabase))
  }

  return {
    /** Lets pending file-system events arrive; searches wait for it first. */
    settle: (): Promise<void> => watch.settle(),

    /** The index, in step with the files. */
    fresh(): SearchIndex {
      if (looked) return looked
      const index = guarded(() => bringUpToDate(false))
      if (looked === null) looked = index
      return index
    },

    /** Runs a section, which changes no file, in which `fresh` looks at the files the first time only. */
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
      if (held) return call(held)
      return guarded(() => {
        const index = bringUpToDate(isSettled)
        return holding(index, () => call(index))
      })
    },

    /** The index as it is, for look-ups by key that the caller verifies. */
    asIs: (): SearchIndex => open(),

    /** Notes that a file is about to change. Call `changed` when it has. */
    changing(path: string): void {
      notes.add(path)
      const place = folderOf(path)
      const before = modifiedAt(fileSystem, fromShown(root, place))
      const known = ownChanges.get(place)
      if (!known) ownChanges.set(place, { before, after: before, broken: false })
      else if (known.after !== before) known.broken = true
    },

    changed(path: string): void {
      pending.add(path)
      const place = folderOf(path)
      const change = ownChanges.get(place)
      if (change) change.after = modifiedAt(fileSystem, fromShown(root, place))
      timer ??= setTimeout(() => {
        try {
          guarded(flush)
        } catch (error) {
          onNotice(`the search index could not be brought up to date: ${(error as Error).message}`)
        }
      }, flushDelayMs).unref()
    },

    flush: (): void => guarded(flush),

    /** Rebuilds the index from all files, and removes damaged ones that were set aside. */
    rebuild(progress?: (progress: IndexProgress) => void): void {
      close()
      exclusively(() => removeIndexFile(fileSystem, openDatabase, folder))
      const index = open()
      const total = sources().reduce((sum, source) => sum + countFiles(source), 0)
      let done = 0
      progress?.({ done, total })
      lookEverywhere(index, (files) => {
        done += files
        progress?.({ done, total })
      })
      exclusively(() => removeSetAside(fileSystem, indexPath))
    },

    /** Checks the index page by page. @returns what is wrong with it, or `null` */
    damage(): string | null {
      open()
      const passes = opened?.temporary ? passesCheck(opened.database) : isIntact(openDatabase, folder)
      return passes ? null : 'the index is damaged'
    },

    /** Looks at every file now, however large the memory. */
    update(): void {
      guarded(() => {
        const index = open()
        holding(index, () => {
          flush()
          absorbOthers(index)
          lookEverywhere(index)
        })
      })
    },

    /** Never fails: changes that could not be indexed stay noted, and the next search picks them up. */
    close(): void {
      const isTemporary = opened?.temporary ?? false
      watch.close()
      try {
        guarded(flush)
        close()
      } catch (error) {
        onNotice(`the search index could not be brought up to date: ${(error as Error).message}`)
      }
      try {
        notes.close(pending.size > 0 || isTemporary)
      } catch (error) {
        onNotice(`${folder} could not be tidied up: ${(error as Error).message}`)
      }
    },
  }

  function countFiles(source: Source): number {
    const names = orAbsent(() => fileSystem.readdirSync(fromShown(root, source.path))) ?? []
    return names.filter((name) => source.accepts(name)).length
  }

  function close(): void {
    clearTimeout(timer)
    timer = undefined
    if (!opened) return
    const { database, temporary } = opened
    const isOurs = isCurrent()
    opened = undefined
    if (temporary || !isOurs || isSealed(fileSystem, folder, database)) database.close()
    else exclusively(() => closeIndexFile(fileSystem, folder, database))
  }
}

export function missingRoot(root: string): MemoryError {
  return new MemoryError(
    `${root} does not exist: create it with 'recall init', or check that its disk is mounted`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path: root } },
  )
}
