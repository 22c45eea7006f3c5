import { basename, dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { temporaryName } from '../atomic-write.ts'
import { type FileSystem, orAbsent } from '../file-system.ts'
import type { Layout } from '../layout.ts'
import { fromShown } from '../paths.ts'
import { isAlive } from '../process-identity.ts'
import { readText } from '../read-text.ts'
import { type Source, sourcesOf } from '../sources.ts'
import type { OpenDatabase } from './driver.ts'
import { type FileStamp, mixStamp, sameStamp, stampModulus, stampOf } from './file-stamp.ts'
import {
  closeIndexFile,
  isDamage,
  type OpenedIndex,
  openIndexFile,
  passesCheck,
  setAside,
} from './index-file.ts'
import { indexName } from './seal.ts'
import { createSearchIndex, type SearchIndex } from './search-index.ts'
import { openWriterNotes } from './writer-notes.ts'

/** Up to this many files are looked at one by one before every search: it takes a few milliseconds. */
export const alwaysWalk = 2000
/** In larger memories a file edited in place by hand is found after at most this long. */
export const longestUnwalkedMs = 60_000
const filesPerTransaction = 5000
const flushDelayMs = 100

export interface MemoryIndexOptions {
  fileSystem: FileSystem
  root: string
  layout: Layout
  openDatabase: OpenDatabase
  /** Told once when an index had to be set aside or cannot be kept. */
  onNotice: (text: string) => void
  /** Expiry that reads have put off, by the entry's address; consulted when an entry is indexed. */
  slidExpiry: (scope: string, namespace: string, key: string, updated: number) => number | null
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
  const { fileSystem, root, layout, openDatabase, onNotice, slidExpiry } = options
  const folder = join(root, layout.internal)
  const notes = openWriterNotes(fileSystem, join(folder, 'writers'))
  const pending = new Set<string>()
  const ownChanges = new Map<string, { before: number; after: number; broken: boolean }>()
  let opened: (OpenedIndex & { index: SearchIndex; inode: number }) | undefined
  let lastWalk = 0
  let timer: NodeJS.Timeout | undefined

  const modifiedOf = (path: string): number => orAbsent(() => fileSystem.lstatSync(path))?.mtimeMs ?? 0

  /** `null` for what is no regular file; links are not followed. */
  const stampOfFile = (path: string): FileStamp | null => {
    const stats = orAbsent(() => fileSystem.lstatSync(path))
    return stats?.isFile() ? stampOf(stats) : null
  }

  const open = (): SearchIndex => {
    if (
      opened &&
      !opened.temporary &&
      orAbsent(() => fileSystem.lstatSync(join(folder, indexName)))?.ino !== opened.inode
    ) {
      // Somebody deleted or replaced the file: what we hold open is nobody's index any more.
      opened.database.close()
      opened = undefined
    }
    if (opened) return opened.index
    const file = openIndexFile(fileSystem, openDatabase, folder, notes.others().alive)
    if (file.notice) onNotice(file.notice)
    if (file.temporary) onNotice(`${folder} cannot be written: the search index is kept in memory`)
    const inode = file.temporary ? 0 : fileSystem.lstatSync(join(folder, indexName)).ino
    opened = { ...file, index: createSearchIndex(file.database), inode }
    lastWalk = file.isNew || file.unclean ? 0 : Number(opened.index.fact('walked') ?? 0)
    return opened.index
  }

  /** Reads one file into the index, or takes it out when it is gone. */
  const indexFile = (
    index: SearchIndex,
    source: Source,
    folderId: number,
    name: string,
    seen = stampOfFile(join(fromShown(root, source.path), name)),
  ): void => {
    const path = join(fromShown(root, source.path), name)
    if (!seen) {
      for (const session of index.removeFile(folderId, name)) promoteCopy(index, session)
      return
    }
    let file: ReturnType<typeof readText>
    try {
      file = readText(fileSystem, path)
    } catch (error) {
      // Unreadable is not empty: the file stays known, with what is wrong, and is tried again when it changes.
      index.putFile({
        folder: folderId,
        name,
        stamp: seen,
        bytes: Buffer.from(String(error)),
        content: '',
        entries: [],
        problem: (error as Error).message,
      })
      return
    }
    if (!file) return
    const { content, bytes, stamp } = file
    const entries = source.parse(name, content, { modified: Math.round(stamp.modified) }).map((entry) => {
      if (entry.ttl === null) return entry
      const slid = slidExpiry(entry.scope, entry.namespace, entry.key, entry.updated)
      return { ...entry, expires: slid ?? entry.expires }
    })
    index.putFile({ folder: folderId, name, stamp, bytes, content, entries })
  }

  /** When the archive that owned a session's key goes, the oldest copy takes the key over. */
  const promoteCopy = (index: SearchIndex, session: string): void => {
    const [copy] = index.displacedArchives(session)
    if (!copy) return
    index.forgetHash(copy.folder, copy.name)
    const path = index.folders().find(({ id }) => id === copy.folder)?.path
    const source = sources().find((candidate) => candidate.path === path)
    if (source) indexFile(index, source, copy.folder, copy.name)
  }

  const sources = (): Source[] => sourcesOf(fileSystem, root, layout)

  /** Indexes named files, given by their path below the root. */
  const indexPaths = (index: SearchIndex, paths: Iterable<string>): void => {
    const known = new Map(sources().map((source) => [source.path, source]))
    for (const path of paths) {
      const source = known.get(dirname(path) === '.' ? '' : dirname(path))
      if (!source?.accepts(basename(path))) continue
      indexFile(index, source, index.folder(source.path).id, basename(path))
    }
  }

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (pending.size === 0) return
    const index = open()
    index.transaction(() => {
      indexPaths(index, pending)
      for (const [path, change] of ownChanges) {
        const state = index.folder(path)
        // Ours were the only changes since the folder was last in step: its new time is in step as well.
        if (!change.broken && state.modified === change.before) index.folderModified(state.id, change.after)
      }
    })
    pending.clear()
    ownChanges.clear()
    notes.done()
  }

  const absorbOthers = (index: SearchIndex): void => {
    const { paths, abandoned } = notes.others()
    if (paths.length > 0) index.transaction(() => indexPaths(index, new Set(paths)))
    notes.discard(abandoned)
  }

  /** Looks at every file of a folder; returns how many there are. */
  const walk = (index: SearchIndex, source: Source, progress?: (files: number) => void): number => {
    const path = fromShown(root, source.path)
    const modified = orAbsent(() => fileSystem.lstatSync(path))?.mtimeMs
    const state = index.folders().find((known) => known.path === source.path)
    if (modified === undefined) {
      if (state && state.count > 0) throw missingFolder(path, state.count)
      return 0
    }
    const found = new Map<string, FileStamp>()
    let sum = 0
    for (const name of listFolder(path)) {
      if (temporaryName.test(name)) sweepTemporary(join(path, name), name)
      else if (source.accepts(name)) {
        const stamp = stampOfFile(join(path, name))
        if (!stamp) continue
        found.set(name, stamp)
        sum = (sum + mixStamp(stamp)) % stampModulus
      }
    }
    const inStep = state !== undefined && state.count === found.size && state.sum === sum
    if (inStep && state.modified === modified) return found.size
    const { id } = index.transaction(() => index.folder(source.path))
    if (!inStep) {
      const known = index.stamps(id)
      const changed = [...found].filter(([name, stamp]) => !sameStamp(known.get(name) ?? absentStamp, stamp))
      const names = [
        ...changed.map(([name]) => name),
        ...[...known.keys()].filter((name) => !found.has(name)),
      ].sort()
      for (let i = 0; i < names.length; i += filesPerTransaction) {
        const some = names.slice(i, i + filesPerTransaction)
        index.transaction(() => {
          for (const name of some) indexFile(index, source, id, name, found.get(name) ?? null)
        })
        progress?.(some.length)
      }
    }
    index.transaction(() => index.folderModified(id, modified))
    return found.size
  }

  const listFolder = (path: string): string[] => {
    try {
      return fileSystem.readdirSync(path)
    } catch (cause) {
      throw new MemoryError(`${path} cannot be read`, MemoryErrorCode.UNAVAILABLE, {
        cause,
        details: { path },
      })
    }
  }

  /** What a dead process left half-written was never acknowledged. */
  const sweepTemporary = (path: string, name: string): void => {
    const pid = Number(temporaryName.exec(name)?.[1])
    if (pid === process.pid || isAlive({ pid, started: 0 })) return
    try {
      fileSystem.unlinkSync(path)
    } catch {}
  }

  const walkAll = (index: SearchIndex, progress?: (files: number) => void): void => {
    const started = Date.now()
    let files = 0
    for (const source of sources()) files += walk(index, source, progress)
    lastWalk = started
    if (files > alwaysWalk) index.transaction(() => index.setFact('walked', String(started)))
  }

  /** Brings the index up to date as far as can be known without looking at every file of a large memory. */
  const bringUpToDate = (): SearchIndex => {
    if (!fileSystem.existsSync(root)) throw missingRoot(root)
    const index = open()
    flush()
    absorbOthers(index)
    const total = index.countFiles()
    const age = Date.now() - lastWalk
    if (total <= alwaysWalk || age > longestUnwalkedMs || age < 0) walkAll(index)
    else {
      const states = new Map(index.folders().map((state) => [state.path, state]))
      for (const source of sources()) {
        const state = states.get(source.path)
        const isSmall = (state?.count ?? 0) <= alwaysWalk
        if (isSmall || modifiedOf(fromShown(root, source.path)) !== state?.modified) walk(index, source)
      }
    }
    return index
  }

  /** Runs a call on the index; a damaged one is set aside and built anew, once. */
  const guarded = <T>(call: () => T): T => {
    try {
      return call()
    } catch (error) {
      if (!isDamage(error) || !opened || opened.temporary) throw error
      opened.database.close()
      opened = undefined
      const aside = setAside(fileSystem, join(folder, indexName))
      onNotice(`the search index was damaged: it was moved to ${aside} and is built anew`)
      return call()
    }
  }

  return {
    /** The index, in step with the files. */
    fresh: (): SearchIndex => guarded(bringUpToDate),

    /** Runs a query; on a damaged index it runs again on a new one. */
    query: <T>(call: (index: SearchIndex) => T): T => guarded(() => call(bringUpToDate())),

    /** The index as it is, for look-ups by key that the caller verifies. */
    asIs: (): SearchIndex => open(),

    /** Notes that a file is about to change. Call `changed` when it has. */
    changing(path: string): void {
      notes.add(path)
      const place = dirname(path) === '.' ? '' : dirname(path)
      const before = modifiedOf(fromShown(root, place))
      const known = ownChanges.get(place)
      if (!known) ownChanges.set(place, { before, after: before, broken: false })
      else if (known.after !== before) known.broken = true
    },

    changed(path: string): void {
      pending.add(path)
      const place = dirname(path) === '.' ? '' : dirname(path)
      const change = ownChanges.get(place)
      if (change) change.after = modifiedOf(fromShown(root, place))
      timer ??= setTimeout(() => {
        try {
          guarded(flush)
        } catch (error) {
          onNotice(`the search index could not be brought up to date: ${(error as Error).message}`)
        }
      }, flushDelayMs).unref()
    },

    flush: (): void => guarded(flush),

    /** Reads every file anew into an empty index. */
    rebuild(progress?: (progress: IndexProgress) => void): void {
      close()
      orAbsent(() => fileSystem.unlinkSync(join(folder, indexName)))
      for (const suffix of ['-wal', '-shm'])
        orAbsent(() => fileSystem.unlinkSync(join(folder, indexName + suffix)))
      const index = open()
      const total = sources().reduce((sum, source) => sum + countFiles(source), 0)
      let done = 0
      progress?.({ done, total })
      walkAll(index, (files) => {
        done += files
        progress?.({ done, total })
      })
    },

    /** Checks the index page by page; says what is wrong with it, if anything. */
    damage(): string | null {
      open()
      return opened && passesCheck(opened.database) ? null : 'the index is damaged'
    },

    /** Looks at every file now, however large the memory. */
    update(): void {
      guarded(() => {
        const index = open()
        flush()
        absorbOthers(index)
        walkAll(index)
      })
    },

    close(): void {
      guarded(flush)
      close()
      notes.close()
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
    opened = undefined
    if (temporary) database.close()
    else closeIndexFile(fileSystem, folder, database)
  }
}

const absentStamp: FileStamp = { size: -1, modified: -1, changed: -1, inode: -1 }

function missingFolder(path: string, count: number): MemoryError {
  return new MemoryError(
    `${path} is missing, but ${count} memories were there: put it back, or run 'recall reindex' to accept the loss`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path } },
  )
}

export function missingRoot(root: string): MemoryError {
  return new MemoryError(
    `${root} does not exist: create it with 'recall init', or check that its disk is mounted`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path: root } },
  )
}
