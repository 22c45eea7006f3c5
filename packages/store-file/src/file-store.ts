import { join } from 'node:path'
import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import type { Address, Embedder, Entry, MemoryScope, MemoryStore, Place, Selection } from '@recall/core'
import { type RankWeights, rankWeights } from '@recall/core/ranking'
import { asRead } from '@recall/core/stores'
import { createAccess } from './access.ts'
import { sweepArchived } from './cold/cold-folder.ts'
import { createColdStore } from './cold/cold-store.ts'
import { requireValue } from './documents/note.ts'
import { createAccessLog } from './entries/access-log.ts'
import { countedButGone } from './entries/counted-but-gone.ts'
import { createEntryFiles } from './entries/entry-files.ts'
import { createEntryWriter } from './entries/entry-writer.ts'
import { createExpiryCatchUp } from './entries/expiry-catch-up.ts'
import { createErasures } from './erasures.ts'
import { type FileSystem, statusOf } from './files/file-system.ts'
import { missingRoot } from './files/folders.ts'
import { refuseLinks, shownPath } from './files/paths.ts'
import type { Layout } from './layout/layout.ts'
import { specialPlace } from './layout/placement.ts'
import { mayHold } from './layout/sources.ts'
import { createLock } from './lock.ts'
import { createPresence } from './presence.ts'
import { createFileSearch, type LocatedHit, type LocateQuery } from './search/file-search.ts'
import { rowReaders, unitTextsOf } from './search/row-reader.ts'
import { createMemoryIndex, type IndexProgress, type MemoryIndex } from './search-index/memory-index.ts'
import type { SlidExpiry } from './search-index/search-index.ts'
import type { OpenDatabase } from './sqlite/driver.ts'
import { isBusy, isDamage, isUnwritable } from './sqlite/errors.ts'
import { createMemoryVectors } from './vectors/memory-vectors.ts'
import type { Coverage } from './vectors/missing-vectors.ts'
import type { VectorIndex } from './vectors/vector-index.ts'

export interface FileStoreOptions {
  /** Existing folder, with symbolic links already followed. */
  root: string
  layout: Layout
  fileSystem: FileSystem
  openDatabase: OpenDatabase
  onNotice: (text: string) => void
  /** Also finds by meaning, with vectors that it makes from the files and keeps next to the index. */
  embedder?: Embedder | undefined
  /** Weights of the ranking that differ from core's. */
  ranking?: Partial<RankWeights> | undefined
  /** How long to wait for another process that holds the lock. */
  lockTimeoutMs?: number | undefined
}

export interface FileStore extends MemoryStore {
  readonly root: string
  readonly layout: Layout
  /**
   * Searches scopes by a text without reading whole values, and returns the best places across all of them, best first:
   * the best one of each match, or as many as `passages` says.
   */
  locate(query: LocateQuery, scopes: readonly MemoryScope[]): LocatedHit[]
  /** What a search of a place by words or meaning cannot look at, and why: `onNotice` gets each of these only once. */
  notSearched(place: Place): string[]
  /**
   * Embeds recent writes before `locate`, as many as a search can wait for. The rest are found by words alone, and so
   * is everything where vectors cannot be made or stored.
   *
   * @returns how many units are left
   */
  embedRecent(now: number): Promise<number>
  /**
   * Brings the index up to date. With `full` it is rebuilt: afterwards neither index nor vectors hold any trace of a
   * text that is no longer in a file, and the access counts hold no key of a removed entry.
   */
  reindex(options: { full: boolean; onProgress?: ((progress: IndexProgress) => void) | undefined }): void
  /**
   * Begins to remove something for good. Index and vectors hold traces of it until they are rebuilt: if the process is
   * killed before that, a note on disk says so.
   *
   * @returns a function that rebuilds them, to be called when everything is removed
   */
  beginErasure(): () => void
  /** Whether a process was killed between a removal for good and the rebuild. A full `reindex` makes up for it. */
  hasTraces(): boolean
  /** Runs a section under the memory's lock, after finishing what a dead process began. */
  exclusively<T>(section: () => T): T
  /** Runs a section during which the files of the access counts, which otherwise need no lock, do not change. */
  withoutCounting<T>(section: () => T): T
  index: MemoryIndex
  /**
   * The model whose vectors are stored, how many units have one, and how many could; `null` when there are no vectors.
   * What has expired gets none, `now` by default being the time of the call.
   */
  vectorCoverage(now?: number): Coverage | null
  /** Set when the store was given an embedder. */
  vectors?: VectorIndex
}

/** How many expired entries are removed at a time: meanwhile other processes wait. */
const sweptAtOnce = 500

export function createFileStore(options: FileStoreOptions): FileStore {
  const { root, layout, fileSystem, openDatabase, onNotice } = options
  const internal = join(root, layout.internal)
  refuseLinks(fileSystem, root, internal)
  const accessLog = createAccessLog(fileSystem, openDatabase, internal, onNotice)
  const lock = createLock(fileSystem, openDatabase, internal, options.lockTimeoutMs)
  const presence = createPresence(fileSystem, root, layout)
  const index = createMemoryIndex({
    fileSystem,
    root,
    layout,
    openDatabase,
    onNotice,
    slidExpiry: accessLog.slidExpiry,
    exclusively: lock.hold,
    assertPresent: presence.assertPresent,
    prepareFolder: presence.prepareFolder,
  })
  const access = createAccess({ root, layout, fileSystem, internal, lock, presence, index })
  const { recover, exclusively, assertPresent } = access
  const files = createEntryFiles({ root, layout, fileSystem, index, accessLog })
  const { notePath, readEntry, toEntry } = files

  const writer = createEntryWriter({
    root,
    layout,
    fileSystem,
    internal,
    index,
    accessLog,
    files,
    access,
    beginErasure: () => beginErasure(),
  })

  const getEntry = (address: Address, now: number): Entry | null => {
    recover()
    const entry = readEntry(address)
    if (!entry) {
      assertPresent()
      return null
    }
    const checked = requireValue(entry, shownPath(root, notePath(address)))
    const found = toEntry(address, checked)
    files.remember(address, found, now)
    return files.hasExpired(found, now) ? null : found
  }

  /**
   * An index that cannot be written, is held by another process, or is damaged must not prevent reading: it catches up
   * when it is searched.
   */
  const slideExpiries = (slid: readonly SlidExpiry[]): void => {
    try {
      index.flush()
      const current = index.asIs()
      current.transaction(() => slid.forEach(current.slideExpiry))
    } catch (error) {
      if (!isUnwritable(error) && !isBusy(error) && !isDamage(error)) throw error
    }
  }

  const createRowReader = rowReaders({ fileSystem, root, layout, files })
  const memoryVectors = createMemoryVectors({
    fileSystem,
    internal,
    index,
    onNotice,
    embedder: options.embedder,
    exclusively: lock.hold,
    unitTexts: unitTextsOf(createRowReader),
  })
  const { vectors } = memoryVectors
  const search = createFileSearch({
    root,
    layout,
    fileSystem,
    index,
    accessLog,
    files,
    onNotice,
    access,
    createRowReader,
    vectors: memoryVectors,
    weights: { ...rankWeights, ...options.ranking },
    catchUpExpiries: createExpiryCatchUp(accessLog),
  })
  const { addressOfRow } = search

  const erasures = createErasures(fileSystem, internal, presence.prepareFolder)

  const reindex: FileStore['reindex'] = ({ full, onProgress }) => {
    recover()
    if (!fileSystem.existsSync(root)) throw missingRoot(root)
    sweepArchived(fileSystem, { root, layout })
    if (!full) {
      index.update()
      memoryVectors.forgetMostlyUnused()
      return
    }
    const interrupted = erasures.interrupted()
    index.rebuild(onProgress)
    memoryVectors.forgetUnused()
    exclusively(() => accessLog.compact(countedButGone({ layout, index, accessLog, files })))
    erasures.discard(interrupted)
  }

  const beginErasure: FileStore['beginErasure'] = () => {
    const end = erasures.begin()
    return () => {
      reindex({ full: true })
      end()
    }
  }

  /** Clearing removes everything or nothing; archiving may leave entries for another time. */
  const selectAll = (
    { scope, namespace, updatedBefore = Number.POSITIVE_INFINITY, tags = [], type }: Selection,
    purpose: 'clear' | 'archive',
  ): Address[] => {
    recover()
    assertPresent()
    return index.query((current) => {
      const unread = purpose === 'clear' ? current.unread() : current.unreadable()
      files.refuseUnread(unread, ({ folder, name }) => mayHold(layout, folder, name, { scope, namespace }))
      const found: Address[] = []
      for (const row of current.list({ scope, namespace, tags, now: Number.NEGATIVE_INFINITY }, 'asc')) {
        if (row.updated >= updatedBefore) break
        if (type !== undefined && row.type !== type) continue
        // Only the file of a conversation has a number.
        if (purpose === 'archive' && row.number !== null) continue
        found.push(addressOfRow(row))
      }
      return found
    })
  }

  return {
    name: 'file',
    capabilities: { durable: true, semantic: false, meaning: vectors !== undefined },
    ...(vectors ? { vectors } : {}),
    root,
    layout,
    index,
    exclusively,
    withoutCounting: accessLog.withoutCounting,
    cold: createColdStore(
      { fileSystem, root, folder: layout.cold, access },
      {
        olderThan: (place, before) => selectAll({ ...place, updatedBefore: before }, 'archive'),
        get: getEntry,
        pathOf: notePath,
        put: (entry, now, source) => writer.put(entry, { overwrite: false, now }, source),
        removeAsRead: (entry) => writer.commit([{ remove: entry, expected: asRead(entry) }]),
      },
    ),

    async put(entry, putOptions) {
      writer.put(entry, putOptions)
    },

    async get(address, now) {
      return getEntry(address, now)
    },

    find: search.find,
    locate: search.locate,
    notSearched: search.notSearched,
    embedRecent: memoryVectors.embedRecent,
    vectorCoverage: (now = Date.now()) => memoryVectors.coverage(now),

    async touch(addresses, now) {
      const accesses = addresses.flatMap((address) => {
        const version = files.versionAt(address, now)
        if (!version) return []
        const { created, updated, ttl } = version
        return [{ address, version: { created, updated }, expires: ttl === null ? null : now + ttl }]
      })
      if (accesses.length === 0) return
      accessLog.record(accesses, now)
      const slid = accesses.flatMap(({ address, version: { updated }, expires }) =>
        expires === null ? [] : [{ ...address, updated, expires }],
      )
      if (slid.length > 0) slideExpiries(slid)
    },

    async remove(address) {
      return writer.remove(address)
    },

    async removeAll(selection) {
      return writer.removeSelected(selectAll(selection, 'clear'), selection)
    },

    async commit(changes) {
      writer.commit(changes)
    },

    async sweep({ scope, namespace, now, dryRun }) {
      recover()
      assertPresent()
      const rows = index.query((current) => current.expired(scope, namespace, now))
      // The file decides, not the index: nothing is deleted on a guess.
      const expired = rows.map(addressOfRow).filter((address) => writer.hasExpired(address, now))
      if (expired.length > 0) accessLog.assertReadable()
      if (dryRun) return expired.length
      let count = 0
      for (let at = 0; at < expired.length; at += sweptAtOnce) {
        const some = expired.slice(at, at + sweptAtOnce)
        count += exclusively(() => writer.removeExpired(some, now))
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

    reindex,

    beginErasure,

    hasTraces: () => erasures.interrupted().length > 0,

    async close() {
      index.close()
      accessLog.close()
      lock.close()
      // A driver of SQLite closes a file once its statements are collected, which takes a turn of the event loop.
      await turnOfEventLoop()
    },
  }
}
