import { join } from 'node:path'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import type { Layout } from '../layout/layout.ts'
import { comesOfDamage, passesCheck, setAside } from '../sqlite/damage.ts'
import type { OpenDatabase } from '../sqlite/driver.ts'
import { isBusy, isEmptied, isUnwritable } from '../sqlite/errors.ts'
import { busyMs } from '../sqlite/write-ahead-log.ts'
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
import { breakSeal, indexName } from './seal.ts'
import { createSearchIndex, type SearchIndex } from './search-index.ts'

/** How long closing waits for the lock: no caller gets a better answer by waiting longer. */
const sealPatienceMs = 1000

export interface IndexInUse extends OpenedIndex {
  index: SearchIndex
  inode: number
  /** When every file of the memory was last looked at, in milliseconds; 0 when that is due. */
  walkedAt: number
}

export interface IndexInUseOptions {
  fileSystem: FileSystem
  openDatabase: OpenDatabase
  layout: Layout
  /** Folder of the index. */
  folder: string
  /** What the index is made of: an index made of anything else is rebuilt. */
  madeOf: string
  /** Receives a message, once, when an index was set aside or cannot be stored. */
  onNotice: (text: string) => void
  /** Runs a section while no other process runs one; waits at most this many milliseconds. */
  exclusively: <T>(section: () => T, patienceMs?: number) => T
  /** Whether another living process writes to the memory. */
  isShared: () => boolean
  /** @throws MemoryError UNAVAILABLE when the memory is away: no new index must take its place */
  assertPresent(): void
  /** Creates a folder of the memory where it is missing. */
  prepareFolder(folder: string): void
}

/**
 * Opens the index on demand, and again when its file was deleted, replaced or damaged. Where none can be written, one
 * in memory takes its place, so that the memory can still be searched.
 */
export function createIndexInUse(options: IndexInUseOptions) {
  const { fileSystem, openDatabase, layout, folder, madeOf } = options
  const { onNotice, exclusively, isShared, assertPresent, prepareFolder } = options
  const path = join(folder, indexName)
  let opened: IndexInUse | undefined
  /** Within `holding`: the index in use, whatever other processes put in its place meanwhile. */
  let held: IndexInUse | undefined

  const isCurrent = ({ temporary, inode }: IndexInUse): boolean =>
    temporary || inodeOf(fileSystem, path) === inode

  const drop = (): void => {
    opened?.database.close()
    opened = undefined
  }

  const remove = (): void => exclusively(() => removeIndexFile(fileSystem, openDatabase, folder))

  const open = (): IndexInUse => {
    if (held) return held
    // The file was deleted or replaced: the one we hold open is no longer anybody's index.
    if (opened && !isCurrent(opened)) drop()
    if (opened) return opened
    assertPresent()
    const file = openIndexFile({
      fileSystem,
      openDatabase,
      folder,
      prepareFolder,
      inUse: isShared(),
      exclusively,
    })
    const current = use(file)
    if (current.index.fact('layout') !== madeOf) {
      drop()
      remove()
      return open()
    }
    if (file.notice) onNotice(file.notice)
    if (file.temporary) onNotice(`${whyTemporary()}: the search index is kept in memory`)
    return current
  }

  const whyTemporary = (): string =>
    statusOf(fileSystem, path)?.isDirectory()
      ? `${path} is a folder, and in the way of a file (move it away)`
      : `${folder} cannot be written`

  const use = (file: OpenedIndex): IndexInUse => {
    const inode = file.temporary ? 0 : (inodeOf(fileSystem, path) ?? 0)
    const index = createSearchIndex(file.database, layout)
    // Set before the first query: when a query meets damage, `guarded` sets aside whatever is open.
    const current: IndexInUse = { ...file, index, inode, walkedAt: 0 }
    opened = current
    if (index.fact('layout') === undefined) index.transaction(() => index.setFact('layout', madeOf))
    if (!file.isNew && !file.unclean) current.walkedAt = Number(index.fact('walked') ?? 0)
    return current
  }

  const useMemory = (error: unknown): void => {
    onNotice(`${path} cannot be written (${(error as Error).message}): the search index is kept in memory`)
    use(openTemporaryIndex(openDatabase))
  }

  const inMemory = <T>(error: unknown, call: () => T): T => {
    if (isBusy(error)) throw lockedIndex(path, error)
    if (!isUnwritable(error) || !opened || opened.temporary) throw error
    drop()
    useMemory(error)
    return call()
  }

  /** Sets the file of a damaged index aside, unless another process did so already. */
  const giveUp = (damaged: IndexInUse): void => {
    drop()
    try {
      exclusively(() => {
        if (inodeOf(fileSystem, path) !== damaged.inode) return
        onNotice(
          `the search index was damaged: it was moved to ${setAside(fileSystem, path)} and is being rebuilt`,
        )
      })
    } catch (cause) {
      if (!isUnwritable(cause)) throw cause
      // Windows does not move an open file. At the next opening nothing holds it yet.
      breakSeal(fileSystem, folder)
      useMemory(cause)
    }
  }

  return {
    open,

    /** The index as it was last opened, if it is still open. */
    opened: (): IndexInUse | undefined => opened,

    held: (): IndexInUse | undefined => held,

    /** Runs a section in which every part uses the same index. */
    holding<T>(index: IndexInUse, section: () => T): T {
      const outer = held
      held = index
      try {
        return section()
      } finally {
        held = outer
      }
    },

    /** Notes that every file was looked at; also for later processes, when it took long. */
    walked(current: IndexInUse, at: number, isLarge: boolean): void {
      current.walkedAt = at
      if (isLarge) current.index.transaction(() => current.index.setFact('walked', String(at)))
    },

    /**
     * Runs a call on the index. If the index is damaged, it is set aside and rebuilt, once; if it cannot be written,
     * for example on a full disk, one in memory takes its place.
     */
    guarded<T>(call: () => T): T {
      try {
        return call()
      } catch (error) {
        const damaged = opened
        if (damaged && held === undefined && isEmptied(error)) {
          drop()
          return call()
        }
        if (!damaged || damaged.temporary || !comesOfDamage(error, () => isIntact(openDatabase, folder)))
          return inMemory(error, call)
        giveUp(damaged)
        return call()
      }
    },

    /** Checks the index page by page. */
    isWhole: (): boolean => {
      const { temporary, database } = open()
      return temporary ? passesCheck(database) : isIntact(openDatabase, folder)
    },

    remove,

    /** Closes the index as it is, unsealed: the next process to open it looks for what is missing from it. */
    drop,

    /**
     * Closes the index and seals it, unless another process holds the lock: then sealing is left to the last one to
     * close.
     */
    close(): void {
      if (!opened) return
      const { database, temporary } = opened
      const isOurs = isCurrent(opened)
      opened = undefined
      let isOpen = true
      const seal = (): void => {
        isOpen = false
        closeIndexFile(fileSystem, folder, database)
      }
      try {
        if (!temporary && isOurs && !isSealed(fileSystem, folder, database)) exclusively(seal, sealPatienceMs)
      } catch (error) {
        if (!isMemoryError(error, MemoryErrorCode.TIMEOUT)) throw error
      } finally {
        if (isOpen) database.close()
      }
    },
  }
}

const lockedIndex = (path: string, cause: unknown): MemoryError =>
  new MemoryError(
    `another process has held ${path} for ${busyMs / 1000} s: end it, or try again`,
    MemoryErrorCode.TIMEOUT,
    { cause, details: { path } },
  )
