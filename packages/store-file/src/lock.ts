import { dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent, type ProcessIdentity, pause, thisProcess, writing } from '@recall/core/process'
import { createFile } from './files/atomic-write.ts'
import { type FileStamp, isUnchanged, stampAt } from './files/file-stamp.ts'
import { type FileSystem, overwriteInPlace, statusOf } from './files/file-system.ts'
import { ensureInternal } from './files/folders.ts'
import type { Database, OpenDatabase } from './sqlite/driver.ts'
import { isBusy, isDamage } from './sqlite/errors.ts'

export const lockName = 'lock.db'
/** The longest waiter holds this one, so that nobody overtakes it. Created when somebody first waits. */
const turnName = 'lock-turn.db'

/** Critical sections take milliseconds: a lock held longer than this is held by something that hangs. */
const lockTimeoutMs = 15_000

/** The shortest and the longest pause of a waiter. Each try costs the holder some processor time. */
const pauses = { shortestMs: 1, longestMs: 16 }
/** Each time this much passes, a waiter shortens its pause by a millisecond. */
const patienceMs = 100
/** Pause of the next in turn, until it has waited longer than most sections take. */
const nextPauseMs = 0.2
/** How long a waiter waits for the turn: its holder may be a suspended process. */
const turnPatienceMs = 100
/** A process that takes the lock again this soon finds it free each time, so that waiters never get it. */
const comesBackMs = 5
/** If the process takes the lock again within this time, the same note still names it as the holder. */
const notedForMs = 1000
/** How long a process may continue like that before it lets others go first: switching takes time, too. */
const sliceMs = 5

export interface Lock {
  /**
   * Runs a section while no other process holds the lock. A nested section runs at once.
   *
   * @param patienceMs how long to wait, if less than the lock's own timeout
   * @throws MemoryError TIMEOUT, naming the holder, when another process does not let go; WRITE_FAILED when the lock
   * file cannot be kept, as in a folder that cannot be written
   */
  hold<T>(section: () => T, patienceMs?: number): T
  close(): void
}

/**
 * One lock for all processes that write to a memory. It is an exclusive transaction on a SQLite file that holds
 * nothing, so the operating system itself releases it when its holder dies, and nothing can steal it from a living one.
 * A file next to it names the holder, for people. Sections are synchronous: within a process they cannot overlap.
 */
export function createLock(
  fileSystem: FileSystem,
  openDatabase: OpenDatabase,
  folder: string,
  timeoutMs: number = lockTimeoutMs,
): Lock {
  const path = join(folder, lockName)
  const lock = createLockFile(fileSystem, openDatabase, path)
  const turn = createLockFile(fileSystem, openDatabase, join(folder, turnName))
  let held = false
  let releasedAt = Number.NEGATIVE_INFINITY
  let sliceBegan = Number.NEGATIVE_INFINITY
  let noted: { at: number; stamp: FileStamp | null } | undefined

  const acquire = (patienceMs: number): void => {
    const now = performance.now()
    if (now - releasedAt > comesBackMs) sliceBegan = now
    const mayOvertake = now - sliceBegan < sliceMs || !turn.isThere()
    if (mayOvertake && lock.tryToTake()) return
    const isNext = takeTurn()
    try {
      wait(isNext ? pauseOfNext : pauseAfter, patienceMs)
    } finally {
      if (isNext) turn.release()
    }
    sliceBegan = performance.now()
  }

  /** The lock works without the turn, but less fairly. */
  const takeTurn = (): boolean => {
    const begun = performance.now()
    try {
      for (let tries = 0; !turn.tryToTake(); tries++) {
        if (performance.now() - begun > turnPatienceMs) return false
        pause(pauseAfter(tries, 0))
      }
      return true
    } catch {
      return false
    }
  }

  /** Waits until the lock is free; gives up when the same holder keeps it for too long. */
  const wait = (pauseOf: (tries: number, waitedMs: number) => number, patienceMs: number): void => {
    if (lock.tryToTake()) return
    let holder = readHolder(fileSystem, folder)
    const begun = performance.now()
    let deadline = begun + patienceMs
    for (let tries = 0; !lock.tryToTake(); tries++) {
      const now = performance.now()
      if (now > deadline) {
        const current = readHolder(fileSystem, folder)
        if (current === holder) throw stuck(current, patienceMs)
        holder = current
        deadline = now + patienceMs
      }
      pause(pauseOf(tries, now - begun))
    }
  }

  /** Best effort: the note is for people, and a full disk must not prevent deleting. */
  const noteHolder = (): void => {
    const note = join(folder, holderName)
    const now = performance.now()
    try {
      if (noted && now - noted.at < notedForMs && isUnchanged(fileSystem, note, noted.stamp)) return
      const holder = JSON.stringify({ ...thisProcess(), since: new Date().toISOString() })
      overwriteInPlace(fileSystem, note, holder)
      noted = { at: now, stamp: stampAt(fileSystem, note) }
    } catch {}
  }

  const stuck = (holder: string | null, waitedMs: number): MemoryError =>
    new MemoryError(
      `another process has held the lock of this memory for ${waitedMs / 1000} s (${describeHolder(holder)}): end it, or try again`,
      MemoryErrorCode.TIMEOUT,
      { details: { path } },
    )

  return {
    hold<T>(section: () => T, patienceMs = timeoutMs): T {
      if (held) return section()
      writing(path, () => acquire(Math.min(patienceMs, timeoutMs)))
      held = true
      try {
        noteHolder()
        return section()
      } finally {
        held = false
        lock.release()
        releasedAt = performance.now()
      }
    },

    close(): void {
      lock.close()
      turn.close()
    },
  }
}

/** A file that one process at a time can lock. */
function createLockFile(fileSystem: FileSystem, openDatabase: OpenDatabase, path: string) {
  let opened: { database: Database; inode: number } | undefined

  const inode = (): number | undefined => statusOf(fileSystem, path)?.ino

  const open = (): Database => {
    if (!opened) {
      const folder = dirname(path)
      ensureInternal(fileSystem, folder)
      if (!statusOf(fileSystem, path)) keepOutOfGit(fileSystem, folder)
      const database = openDatabase(path)
      // SQLite's own busy handler backs off further and further, and would starve some of many writers.
      database.exec('PRAGMA busy_timeout = 0')
      opened = { database, inode: inode() ?? 0 }
      if (!statusOf(fileSystem, path)?.size) writePage(database)
    }
    return opened.database
  }

  /** In an empty file each transaction would begin with a page and a journal, for which a full disk has no room. */
  const writePage = (database: Database): void => {
    try {
      database.exec('PRAGMA user_version = 1')
    } catch (error) {
      // Others hold the lock, or are writing the page.
      if (!isBusy(error)) throw error
    }
  }

  const begin = (database: Database): boolean => {
    try {
      database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      if (!isDamage(error)) throw error
      // The file holds nothing. Truncated in place, it stays the same lock for everybody.
      fileSystem.closeSync(fileSystem.openSync(path, 'w'))
      return false
    }
  }

  const close = (): void => {
    opened?.database.close()
    opened = undefined
  }

  return {
    /** Whether the lock was ever taken. */
    isThere: (): boolean => inode() !== undefined,

    tryToTake(): boolean {
      for (;;) {
        if (!begin(open())) return false
        // A lock on a file that has been deleted excludes nobody.
        if (opened?.inode === inode()) return true
        close()
      }
    },

    release: (): void => opened?.database.exec('ROLLBACK'),

    close,
  }
}

const pauseOfNext = (_tries: number, waitedMs: number): number =>
  waitedMs < patienceMs ? nextPauseMs : pauses.shortestMs

/**
 * How long a waiter pauses after this many tries, in milliseconds. Briefly at first, because most sections are short;
 * then longer, but ever shorter with the time it has waited: the one that asks most often is likely to be next.
 */
function pauseAfter(tries: number, waitedMs: number): number {
  const pause = Math.min(pauses.shortestMs * 2 ** tries, pauses.longestMs) - waitedMs / patienceMs
  return Math.max(pause, pauses.shortestMs) * (1 + Math.random())
}

/** Files next to the lock belong to one machine. Best effort, like the holder's note. */
function keepOutOfGit(fileSystem: FileSystem, folder: string): void {
  try {
    createFile(fileSystem, join(folder, '.gitignore'), '*\n')
  } catch {}
}

const holderName = 'lock-holder.json'

const readHolder = (fileSystem: FileSystem, folder: string): string | null =>
  orAbsent(() => fileSystem.readFileSync(join(folder, holderName), 'utf8'))

function describeHolder(text: string | null): string {
  try {
    const { pid, since } = JSON.parse(text ?? '') as ProcessIdentity & { since: string }
    return `process ${pid}, since ${since}`
  } catch {
    return 'its process is unknown'
  }
}
