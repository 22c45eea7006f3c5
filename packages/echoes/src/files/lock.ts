import { existsSync, linkSync, lstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  createFolder,
  errorCode,
  isGone,
  orAbsent,
  type ProcessIdentity,
  refusesHardLinks,
  renamePatiently,
  thisProcess,
} from '@recall/core/process'
import { createFile, namesIn, readOwnText } from './files.ts'

/** Writing a lock's file takes far less; some disks measure time in steps of two seconds. */
const writtenWithinMs = 10_000
/** Critical sections take milliseconds, so a process that holds a lock for longer than this is stuck. */
const timeoutMs = 15_000

/**
 * Runs a section under a lock between processes. Each holder creates the file with the next number. The highest number
 * is the current lock; its file is marked as free and stays, so that an older file cannot be taken for the newest. The
 * lock of a killed process is free at once. Sections are synchronous, so they cannot overlap within a process. The
 * caller gets what the section returns or throws, even if the lock cannot be released properly, as on a full disk.
 *
 * @throws MemoryError TIMEOUT when another process does not release the lock within 15 seconds; UNAVAILABLE when
 * nothing can be written there
 */
export async function withLock<T>(folder: string, section: () => T): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const held = acquire(folder)
    if (held !== undefined) {
      try {
        return section()
      } finally {
        release(folder, held)
      }
    }
    if (Date.now() > end) {
      throw new MemoryError(
        `another process has held ${folder} for ${timeoutMs / 1000} s: end it, or try again`,
        MemoryErrorCode.TIMEOUT,
        { details: { path: folder } },
      )
    }
    await wait(2 + Math.random() * 8)
  }
}

/** Never throws: the section has already done its work. */
function release(folder: string, held: string): void {
  const path = join(folder, held)
  try {
    write(folder, { free: true }, (temporary) => renamePatiently(temporary, path))
  } catch {
    try {
      // Needs no disk space. Nobody has gone past the number yet, so everything is as it was before.
      unlinkSync(path)
    } catch {
      // The lock is free when this process ends.
    }
  }
}

/**
 * @returns the name of the lock's file, or `undefined` when somebody else holds the lock
 * @throws MemoryError UNAVAILABLE when nothing can be written there
 */
function acquire(folder: string): string | undefined {
  try {
    return takeNext(folder)
  } catch (cause) {
    const code = errorCode(cause)
    if (code === undefined) throw cause
    throw new MemoryError(
      `${folder} cannot be written (${code}): make it writable for this user; readers of echoes record there that they were used`,
      MemoryErrorCode.UNAVAILABLE,
      { cause, details: { path: folder } },
    )
  }
}

function takeNext(folder: string): string | undefined {
  createFolder(folder)
  const newest = Math.max(0, ...numbersIn(folder))
  if (newest > 0 && !isFree(join(folder, String(newest)))) return undefined
  keepOutOfGit(folder)
  const own = newest + 1
  const path = join(folder, String(own))
  try {
    create(folder, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  const numbers = numbersIn(folder)
  if (Math.max(...numbers) > own) {
    orAbsent(() => unlinkSync(path))
    return undefined
  }
  // Some old files stay, so that a listing during changes still sees one of the newest.
  for (const old of numbers) if (old < own - 8) orAbsent(() => unlinkSync(join(folder, String(old))))
  return String(own)
}

/** Locks belong to one machine. Best effort: without it, git merely sees them. */
function keepOutOfGit(folder: string): void {
  try {
    const path = join(folder, '.gitignore')
    if (!existsSync(path)) createFile(path, '*\n')
  } catch {}
}

/** Complete from the start, except without hard links: there others see the file before it is written. */
function create(folder: string, path: string): void {
  const holder = thisProcess()
  try {
    write(folder, holder, (temporary) => linkSync(temporary, path))
  } catch (error) {
    if (!refusesHardLinks(error)) throw error
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx' })
  }
}

const numbersIn = (folder: string): number[] =>
  namesIn(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

function isFree(path: string): boolean {
  const text = readOwnText(path)
  const written = orAbsent(() => lstatSync(path))?.mtimeMs
  if (text === null || written === undefined) return false
  const holder = parseHolder(text)
  if (holder === undefined) return Math.abs(Date.now() - written) > writtenWithinMs
  return holder.free === true || isGone(holder, () => written)
}

/** The holder of a lock; `undefined` while the file is being written, or if a power cut has damaged it. */
function parseHolder(text: string): (ProcessIdentity & { free?: boolean }) | undefined {
  try {
    return (JSON.parse(text) as (ProcessIdentity & { free?: boolean }) | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Writes a lock file without fsync: locks mean nothing after a restart of the machine. */
function write(folder: string, content: object, place: (temporary: string) => void): void {
  const temporary = join(folder, `.tmp-${process.pid}-${Math.random().toString(36).slice(2)}`)
  try {
    writeFileSync(temporary, JSON.stringify(content))
    place(temporary)
  } finally {
    orAbsent(() => unlinkSync(temporary))
  }
}
