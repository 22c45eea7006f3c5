import {
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  createFolder,
  isGone,
  orAbsent,
  type ProcessIdentity,
  pause,
  thisProcess,
} from '@recall/core/process'
import type { MemoryPlace } from './session-notes.ts'

/** An archiver that has begun no other session for this long is stuck. */
const longestSessionMs = 10 * 60_000
/** Notes are written in milliseconds. */
const longestNoteMs = 5000
/** Settings of all hosts are written in a second. */
const longestWiringMs = 60_000
/** A key is replaced by two requests, which are sent again if their answers are lost. */
const longestRotationMs = 5 * 60_000
/** Longest that a hook waits for other hooks: hosts give some only 1.5 seconds. */
const mostWaitMs = 500
/** How long a process may take to write its identity into the lock it has just created. */
const writingMs = 1000

export interface LockFile {
  /** Signals that the holder is still at work. */
  renew(): void
  release(): void
}

/**
 * Takes the lock that lets one process at a time archive sessions; `undefined` while another one holds it. Renew it
 * before each session.
 */
export const takeArchivingLock = ({ root, layout }: MemoryPlace): LockFile | undefined =>
  takeLockFile(join(root, layout.internal, 'archiving.lock'), longestSessionMs)

/**
 * Runs a section that reads and writes the notes of sessions while no other process runs one: hosts fire several hooks
 * of a session at once. Goes on without the lock after a while, because a hook must not keep its host waiting.
 */
export function withNotesLocked(
  { root, layout }: MemoryPlace,
  section: () => void,
  waitMs: number = mostWaitMs,
): void {
  const path = join(root, layout.internal, 'lock-sessions')
  const lock = takeWithin(waitMs, 2, () => takeLockFile(path, longestNoteMs))
  try {
    section()
  } finally {
    lock?.release()
  }
}

/**
 * Runs a section that deletes a memory while nobody archives: an archiver at work would bring it back.
 *
 * @throws MemoryError UNAVAILABLE when an archiver takes too long
 */
export function withNobodyArchiving<T>(place: MemoryPlace, section: () => T, waitMs = 30_000): T {
  // Without this folder there are no notes of sessions, and nobody archives.
  if (!existsSync(join(place.root, place.layout.internal))) return section()
  const lock = takeWithin(waitMs, 50, () => takeArchivingLock(place))
  return whileHeld(lock, section, `a session is just being archived into ${place.root}`)
}

/**
 * Runs a section that changes settings of hosts, and the receipts of those changes, while no other process does.
 *
 * @throws MemoryError UNAVAILABLE when another process takes too long
 */
export function withReceiptsLocked<T>(state: string, section: () => T, waitMs = 30_000): T {
  createFolder(state, 0o700)
  const lock = takeWithin(waitMs, 10, () => takeLockFile(join(state, 'lock'), longestWiringMs))
  return whileHeld(lock, section, 'recall is just being wired into agents, or taken out of them')
}

/**
 * Runs a section that replaces the key in a file while no other process does: if a hub issues two keys at once, only
 * the later one counts.
 *
 * @throws MemoryError UNAVAILABLE when another process takes too long
 */
export async function withKeyLocked<T>(
  keyFile: string,
  section: () => Promise<T>,
  waitMs = 30_000,
): Promise<T> {
  const take = () => takeLockFile(`${keyFile}.lock`, longestRotationMs)
  const deadline = performance.now() + waitMs
  let lock = take()
  while (!lock && performance.now() < deadline) {
    await wait(10)
    lock = take()
  }
  if (!lock) throw busy(`the key in ${keyFile} is just being replaced`)
  try {
    return await section()
  } finally {
    lock.release()
  }
}

function whileHeld<T>(lock: LockFile | undefined, section: () => T, other: string): T {
  if (!lock) throw busy(other)
  try {
    return section()
  } finally {
    lock.release()
  }
}

const busy = (other: string): MemoryError =>
  new MemoryError(`${other}: run the same again when that is done`, MemoryErrorCode.UNAVAILABLE)

function takeWithin(waitMs: number, pauseMs: number, take: () => LockFile | undefined): LockFile | undefined {
  const deadline = performance.now() + waitMs
  let lock = take()
  while (!lock && performance.now() < deadline) {
    pause(pauseMs)
    lock = take()
  }
  return lock
}

function takeLockFile(path: string, staleMs: number): LockFile | undefined {
  createFolder(dirname(path))
  const own = JSON.stringify(thisProcess())
  for (;;) {
    try {
      writeFileSync(path, own, { flag: 'wx' })
      return {
        renew: () => touch(path),
        release: () => takeAway(path, own),
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(dirname(path), error)
      const found = readLock(path)
      if (found && isHeld(found, staleMs)) return undefined
      if (found) takeAway(path, found.text)
    }
  }
}

/** Removes a lock with this text; one that another process has taken meanwhile stays. */
export function takeAway(path: string, text: string): void {
  const aside = `${path}.${process.pid}`
  // `renameSync` returns nothing; `null` means that the lock no longer exists.
  if (orAbsent(() => renameSync(path, aside)) === null) return
  if (readFileSync(aside, 'utf8') !== text) putBack(aside, path)
  rmSync(aside, { force: true })
}

function putBack(aside: string, path: string): void {
  try {
    linkSync(aside, path)
  } catch {
    // A third process has it by now, or the disk does not support links.
  }
}

const notWritten = (folder: string, cause: unknown): MemoryError =>
  new MemoryError(
    `${folder} cannot be written (${(cause as NodeJS.ErrnoException).code}): check that this user may write there, and that the disk has room`,
    MemoryErrorCode.UNAVAILABLE,
    { cause, details: { path: folder } },
  )

/**
 * A person who deletes the derived files deletes the lock too. Work goes on: what two processes archive is archived
 * once.
 */
const touch = (path: string): void => void orAbsent(() => utimesSync(path, new Date(), new Date()))

interface FoundLock {
  text: string
  mtimeMs: number
}

/** `null` when it is gone. */
const readLock = (path: string): FoundLock | null =>
  orAbsent(() => {
    const { mtimeMs } = statSync(path)
    return { text: readFileSync(path, 'utf8'), mtimeMs }
  })

/** Whether a living process is at work; one that was killed leaves its lock behind. */
function isHeld({ text, mtimeMs }: FoundLock, staleMs: number): boolean {
  const age = Date.now() - mtimeMs
  const holder = parseHolder(text)
  if (!holder) return age < writingMs
  return age < staleMs && !isGone(holder, () => mtimeMs)
}

function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(text) as ProcessIdentity | null
    return typeof holder?.pid === 'number' ? holder : undefined
  } catch {
    return undefined
  }
}
