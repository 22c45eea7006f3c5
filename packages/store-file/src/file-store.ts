import { dirname, join } from 'node:path'
import {
  type Address,
  alreadyExists,
  type Change,
  compareCodePoints,
  type Embedder,
  type Entry,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  type MemoryStore,
  type PutOptions,
  type RankWeights,
  rankWeights,
  type Selection,
  type StoreQuery,
} from '@recall/core'
import { createAccessLog } from './access-log.ts'
import { createFile, ensureFolder, removeFile, replaceFile, writing } from './atomic-write.ts'
import { createColdStore } from './cold/cold-store.ts'
import { printNote, requireValue } from './documents/note.ts'
import { addressName, createEntryFiles, isExpired, succeed } from './entry-files.ts'
import { createFileSearch, type LocatedHit } from './file-search.ts'
import { type FileSystem, statusOf } from './file-system.ts'
import type { OpenDatabase } from './index/driver.ts'
import { isBusy, isDamage, isUnwritable } from './index/index-file.ts'
import { createMemoryIndex, type IndexProgress, type MemoryIndex, missingRoot } from './index/memory-index.ts'
import type { Layout } from './layout.ts'
import { createLock } from './lock.ts'
import { isInside, shownPath } from './paths.ts'
import { placementOf, specialPlace } from './placement.ts'
import { createPlanner } from './plan-changes.ts'
import { applyChanges, finishJournal, journalPath } from './transaction.ts'
import type { Coverage, VectorIndex } from './vectors/vector-index.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

export interface FileStoreOptions {
  /** Existing folder, with symbolic links already followed. */
  root: string
  layout: Layout
  fileSystem: FileSystem
  openDatabase: OpenDatabase
  onNotice: (text: string) => void
  /** Also finds by meaning, with vectors that it makes from the files and keeps beside the index. */
  embedder?: Embedder | undefined
  /** Weights of the ranking that differ from core's. */
  ranking?: Partial<RankWeights> | undefined
  /** How long to wait for another process that holds the lock. */
  lockTimeoutMs?: number
}

export interface FileStore extends MemoryStore {
  readonly root: string
  readonly layout: Layout
  /**
   * Searches scopes without reading whole values, and returns where each match is and its passage: the best matches of
   * each scope, scope by scope.
   */
  locate(query: Omit<StoreQuery, 'scope'>, scopes: readonly MemoryScope[]): LocatedHit[]
  /** Embeds recent writes before `locate`. Where vectors cannot be stored, they are found by words alone. */
  embedRecent(now: number): Promise<void>
  /**
   * Brings the index up to date. With `full` it is rebuilt, after which neither index nor vectors hold any trace of a
   * text that is no longer in a file.
   */
  reindex(options: { full: boolean; onProgress?: (progress: IndexProgress) => void }): void
  /** Runs a section under the memory's lock, after finishing what a dead process began. */
  exclusively<T>(section: () => T): T
  index: MemoryIndex
  /** The model whose vectors are stored, and how many units have one; `null` when there are no vectors. */
  vectorCoverage(): Coverage | null
  /** Set when the store was given an embedder. */
  vectors?: VectorIndex
}

/** Attempts to write a shared file that somebody keeps editing at the same moment. */
const attempts = 5

export function createFileStore(options: FileStoreOptions): FileStore {
  const { root, layout, fileSystem, openDatabase, onNotice } = options
  const internal = join(root, layout.internal)
  const accessLog = createAccessLog(fileSystem, openDatabase, internal, onNotice)
  const lock = createLock(fileSystem, openDatabase, internal, options.lockTimeoutMs)
  const index = createMemoryIndex({
    fileSystem,
    root,
    layout,
    openDatabase,
    onNotice,
    slidExpiry: accessLog.slidExpiry,
    exclusively: (section) => lock.hold(section),
  })
  const files = createEntryFiles({ root, layout, fileSystem, index, accessLog })
  const { notePath, readNote, readEntry, toEntry, refuseForeignFile } = files
  const { planPut, planRemove, isSelected, assertExpected } = createPlanner({ layout, index, files })
  const memoryDevice = (): number | undefined => statusOf(fileSystem, join(root, layout.memory))?.dev
  let device = memoryDevice()

  /** A missing file proves nothing while the whole memory is missing: its disk may not be mounted. */
  const assertPresent = (): void => {
    const now = memoryDevice()
    if (now !== device && device !== undefined) throw missingRoot(join(root, layout.memory))
    if (now === undefined && !fileSystem.existsSync(root)) throw missingRoot(root)
    device = now
  }

  /** Finishes what a dead process began, before anything else is written. */
  const recover = (): void => {
    if (!fileSystem.existsSync(journalPath(internal))) return
    lock.hold(() => {
      const done = finishJournal(fileSystem, root, internal)
      for (const path of done) {
        index.changing(path)
        index.changed(path)
      }
    })
  }

  const exclusively = <T>(section: () => T): T =>
    lock.hold(() => {
      recover()
      return section()
    })

  const prepareFolder = (folder: string): void => {
    assertPresent()
    if (!isInside(fileSystem, root, folder)) {
      writing(folder, () => ensureFolder(fileSystem, folder))
      isInside(fileSystem, root, folder)
      device = memoryDevice()
    }
  }

  /** Tells the index about a change to a file, before and after. */
  const changing = (path: string, change: () => void): void => {
    const shown = shownPath(root, path)
    index.changing(shown)
    try {
      change()
    } finally {
      // Also on failure: the new file may be in place although syncing its folder failed.
      index.changed(shown)
    }
  }

  const putNote = (entry: Entry, { overwrite, now }: PutOptions): void => {
    const path = notePath(entry)
    recover()
    prepareFolder(dirname(path))
    if (!overwrite) {
      let created = false
      changing(path, () => {
        created = createFile(fileSystem, path, printNote(entry))
      })
      if (created) {
        accessLog.startAnew(entry)
        return
      }
    }
    const write = (): void => {
      const isTaken = statusOf(fileSystem, path) !== null
      const earlier = isTaken ? readNote(entry) : null
      if (isTaken && !earlier) refuseForeignFile(path, entry)
      const known = earlier && toEntry(entry, earlier)
      const alive = known && !isExpired(known, now)
      if (alive && !overwrite) throw alreadyExists(entry)
      const content = printNote(alive ? succeed(entry, known) : entry)
      changing(path, () => replaceFile(fileSystem, path, content))
      if (!alive) accessLog.startAnew(entry)
    }
    // Only one of several writers may find the key free.
    if (overwrite) write()
    else exclusively(write)
  }

  /** Plans on a workspace and applies it; plans anew when somebody edited a file in the meantime. */
  const change = <T>(plan: (workspace: Workspace) => T): T =>
    exclusively(() => {
      assertPresent()
      for (let attempt = 1; ; attempt++) {
        const workspace = createWorkspace(fileSystem)
        const result = index.lookingOnce(() => plan(workspace))
        const changes = workspace.changes()
        for (const { path, content } of changes) if (content !== null) prepareFolder(dirname(path))
        for (const { path } of changes) index.changing(shownPath(root, path))
        try {
          applyChanges(fileSystem, root, internal, changes, workspace.assertUnchanged)
        } catch (error) {
          if (isMemoryError(error, MemoryErrorCode.CONFLICT) && attempt < attempts) continue
          throw error
        } finally {
          for (const { path } of changes) index.changed(shownPath(root, path))
        }
        return result
      }
    })

  const hasExpired = (address: Address, now: number): boolean => {
    const file = readNote(address)
    return file !== null && isExpired(toEntry(address, file), now)
  }

  /** Checks again before it removes, because the entry may have been written or read since. Call it under the lock. */
  const removeExpired = (address: Address, now: number): boolean => {
    if (!hasExpired(address, now)) return false
    const path = notePath(address)
    changing(path, () => removeFile(fileSystem, path))
    accessLog.forget(address)
    return true
  }

  /** An index that cannot be written, is held by another process, or is damaged keeps nobody from reading. */
  const slideExpiries = (accesses: readonly { address: Address; expires: number | null }[]): void => {
    try {
      index.flush()
      const current = index.asIs()
      current.transaction(() => {
        for (const { address, expires } of accesses) {
          current.slideExpiry(address.scope, address.namespace, address.key, expires as number)
        }
      })
    } catch (error) {
      if (!isUnwritable(error) && !isBusy(error) && !isDamage(error)) throw error
    }
  }

  const search = createFileSearch({
    root,
    layout,
    fileSystem,
    index,
    accessLog,
    files,
    internal,
    onNotice,
    embedder: options.embedder,
    weights: { ...rankWeights, ...options.ranking },
    exclusively: (section) => lock.hold(section),
    recover,
    assertPresent,
  })
  const { vectors, addressOfRow } = search

  return {
    name: 'file',
    capabilities: { durable: true, semantic: false, meaning: vectors !== undefined },
    ...(vectors ? { vectors } : {}),
    root,
    layout,
    index,
    exclusively,
    cold: createColdStore({ fileSystem, root, folder: layout.cold, exclusively }),

    async put(entry, putOptions) {
      const placement = placementOf(entry)
      if (placement.kind === 'note' && specialPlace(entry) === null) putNote(entry, putOptions)
      else if (change((workspace) => planPut(workspace, entry, putOptions))) accessLog.startAnew(entry)
    },

    async get(address, now) {
      recover()
      const entry = readEntry(address)
      if (!entry) {
        assertPresent()
        return null
      }
      const checked = requireValue(entry, shownPath(root, notePath(address)))
      const found = toEntry(address, checked)
      files.remember(address, found, now)
      return isExpired(found, now) ? null : found
    },

    find: search.find,
    locate: search.locate,
    embedRecent: search.embedRecent,
    vectorCoverage: search.vectorCoverage,

    async touch(addresses, now) {
      const accesses = addresses.flatMap((address) => {
        const version = files.versionAt(address, now)
        if (!version) return []
        const { created, updated, ttl } = version
        return [{ address, version: { created, updated }, expires: ttl === null ? null : now + ttl }]
      })
      if (accesses.length === 0) return
      accessLog.record(accesses, now)
      const sliding = accesses.filter(({ expires }) => expires !== null)
      if (sliding.length > 0) slideExpiries(sliding)
    },

    async remove(address) {
      if (specialPlace(address) !== null) {
        const removed = change((workspace) => planRemove(workspace, address))
        accessLog.forget(address)
        return removed
      }
      recover()
      assertPresent()
      const path = notePath(address)
      if (!readNote(address)) return false
      let removed = false
      changing(path, () => {
        removed = removeFile(fileSystem, path)
      })
      accessLog.forget(address)
      return removed
    },

    async removeAll(selection) {
      const selected = selectAll(selection)
      const removed = change((workspace) => {
        // Somebody may have written an entry since it was selected.
        const still = selected.filter((address) => isSelected(workspace, address, selection))
        for (const address of lastFirst(still)) planRemove(workspace, address)
        return still
      })
      for (const address of removed) accessLog.forget(address)
      return removed.length
    },

    async commit(changes) {
      assertOnce(changes)
      const begun = change((workspace) => {
        assertExpected(workspace, changes)
        const begun = changes.flatMap((each) => {
          if (!('put' in each)) return []
          return planPut(workspace, each.put, each.options, each.expected) ? each.put : []
        })
        const removed = changes.flatMap((each) => ('put' in each ? [] : each.remove))
        for (const address of lastFirst(removed)) planRemove(workspace, address)
        return begun
      })
      for (const entry of begun) accessLog.startAnew(entry)
    },

    async sweep({ scope, namespace, now, dryRun }) {
      recover()
      assertPresent()
      const rows = index.query((current) => current.expired(scope, namespace, now))
      let count = 0
      for (const address of rows.map(addressOfRow)) {
        // The file decides, not the index: nothing is deleted on a guess.
        if (!hasExpired(address, now)) continue
        if (dryRun) count++
        else if (exclusively(() => removeExpired(address, now))) count++
      }
      return count
    },

    async stats({ scope, namespace }) {
      return index.query((current) => current.usage(scope, namespace))
    },

    async stamp(address) {
      // Sections and window entries share a file, and only the index knows where a conversation is.
      if (specialPlace(address) !== null) return null
      const stats = statusOf(fileSystem, notePath(address))
      return stats && `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`
    },

    reindex({ full, onProgress }) {
      recover()
      if (!fileSystem.existsSync(root)) throw missingRoot(root)
      if (!full) return index.update()
      index.rebuild(onProgress)
      search.forgetUnusedVectors()
    },

    async close() {
      index.close()
      accessLog.close()
      lock.close()
    },
  }

  function selectAll({ scope, namespace, updatedBefore, tags = [], type }: Selection): Address[] {
    recover()
    assertPresent()
    return index.query((current) => {
      files.assertReadable(current, () => true)
      const found: Address[] = []
      for (const row of current.list({ scope, namespace, tags, now: Number.NEGATIVE_INFINITY }, 'desc')) {
        if (updatedBefore !== undefined && row.updated >= updatedBefore) continue
        if (type !== undefined && row.type !== type) continue
        found.push(addressOfRow(row))
      }
      return found
    })
  }
}

/** Sections that share a heading are numbered: removing one renumbers those behind it, so the last goes first. */
const lastFirst = (addresses: readonly Address[]): Address[] =>
  [...addresses].sort((a, b) => b.key.length - a.key.length || compareCodePoints(b.key, a.key))

function assertOnce(changes: readonly Change[]): void {
  const names = changes.map((each) => addressName('put' in each ? each.put : each.remove))
  if (new Set(names).size === names.length) return
  throw new MemoryError('a key may stand only once in a batch', MemoryErrorCode.INVALID_INPUT)
}
