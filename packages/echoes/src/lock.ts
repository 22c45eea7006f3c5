import { linkSync, lstatSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { isGone, type ProcessIdentity, thisProcess } from '@recall/core/process'
import { namesIn, orAbsent, readText } from './files.ts'

/** Critical sections take milliseconds: a lock held longer than this is held by something that hangs. */
const timeoutMs = 15_000

/**
 * Runs a section while no other process runs one. Each holder makes the file with the next number; the
 * highest number counts, and it stays when it is let go, so that nobody can mistake an old one for the
 * newest. A holder that was killed is passed over at once. Sections are synchronous: within a process they
 * cannot overlap.
 *
 * @throws MemoryError TIMEOUT when another process does not let go
 */
export async function withLock<T>(folder: string, section: () => T): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const held = acquire(folder)
    if (held !== undefined) {
      try {
        return section()
      } finally {
        write(folder, { free: true }, (temporary) => renameSync(temporary, join(folder, held)))
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

/** @returns the name of the lock's file, or nothing when somebody else holds it */
function acquire(folder: string): string | undefined {
  mkdirSync(folder, { recursive: true })
  const newest = Math.max(0, ...numbersIn(folder))
  if (newest > 0 && !isFree(join(folder, String(newest)))) return undefined
  const own = newest + 1
  const path = join(folder, String(own))
  try {
    write(folder, thisProcess(), (temporary) => linkSync(temporary, path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  const numbers = numbersIn(folder)
  if (Math.max(...numbers) > own) {
    orAbsent(() => unlinkSync(path))
    return undefined
  }
  // A few stay, so that a listing that overlaps with changes still sees one of the newest.
  for (const old of numbers) if (old < own - 8) orAbsent(() => unlinkSync(join(folder, String(old))))
  return String(own)
}

const numbersIn = (folder: string): number[] =>
  namesIn(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

function isFree(path: string): boolean {
  const text = readText(path)
  const written = orAbsent(() => lstatSync(path))?.mtimeMs
  if (text === null || written === undefined) return false
  const holder = parseHolder(text)
  return holder === undefined || holder.free === true || isGone(holder, () => written)
}

/** Files are put in place whole: one that cannot be read was cut short by a power cut, and its holder with it. */
function parseHolder(text: string): (ProcessIdentity & { free?: boolean }) | undefined {
  try {
    return (JSON.parse(text) as (ProcessIdentity & { free?: boolean }) | null) ?? undefined
  } catch {
    return undefined
  }
}

/** Locks mean nothing after a restart of the machine, so these files need not be durable. */
function write(folder: string, content: object, place: (temporary: string) => void): void {
  const temporary = join(folder, `.tmp-${process.pid}-${Math.random().toString(36).slice(2)}`)
  writeFileSync(temporary, JSON.stringify(content))
  try {
    place(temporary)
  } finally {
    orAbsent(() => unlinkSync(temporary))
  }
}
