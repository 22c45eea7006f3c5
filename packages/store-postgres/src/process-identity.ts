import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process, told apart from a later one with the same id, and where that id means something. */
export interface ProcessIdentity {
  pid: number
  /** Start time in the kernel's ticks; 0 where the platform does not tell. */
  started: number
  place: string
}

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  started: startOf(process.pid),
  place: place(),
})

/** What a process elsewhere left untouched for this long belongs to nobody. */
export const longestElsewhereMs = 60 * 60 * 1000

/** Whether a process is gone: dead, if it ran here; silent for an hour, if it ran on another machine. */
export function isGone(owner: ProcessIdentity, lastWritten: number): boolean {
  if (owner.place !== place()) return Date.now() - lastWritten > longestElsewhereMs
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return true
  }
  const now = startOf(owner.pid)
  return owner.started !== 0 && now !== 0 && now !== owner.started
}

function place(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** Field 22 of `/proc/<pid>/stat`, counted after the command name, which may hold spaces and brackets. */
function startOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) || 0
  } catch {
    return 0
  }
}
