import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process even after its pid is reused, and across machines and containers. */
export interface ProcessIdentity {
  pid: number
  /** Start time in kernel clock ticks; 0 where it is unknown. */
  started: number
  /** Eight hex digits for the machine or container within which the pid is unique. */
  place: string
}

export const identityOf = (pid: number): ProcessIdentity => ({
  pid,
  started: statOf(pid)?.started ?? 0,
  place: place(),
})

let own: ProcessIdentity | undefined

export function thisProcess(): ProcessIdentity {
  own ??= identityOf(process.pid)
  return own
}

/** Milliseconds without a write after which a process on another machine or in another container counts as gone. */
export const longestElsewhereMs = 60 * 60 * 1000

/**
 * Whether the process that owns a file is gone. A process of this machine or container is gone when it is dead. Any
 * other process cannot be checked from here: it counts as gone when its file has not been written for an hour.
 *
 * @param lastWritten when the file was last written, in milliseconds
 */
export function isGone(owner: ProcessIdentity, lastWritten: () => number): boolean {
  if (owner.place === place()) return !isAlive(owner)
  return Date.now() - lastWritten() > longestElsewhereMs
}

/** Whether the process that had an id on this machine, or in this container, has ended. */
export const hasEnded = (pid: number): boolean => !isAlive({ pid, started: 0 })

function isAlive({ pid, started }: Pick<ProcessIdentity, 'pid' | 'started'>): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is alive, but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = statOf(pid)
  // A zombie keeps its id and its start time until its parent asks for it, which some parents never do.
  if (now?.state === 'Z') return false
  return started === 0 || !now || now.started === started
}

/** Fields 3 and 22 of `/proc/<pid>/stat`, counted after the command name, which may itself hold spaces and brackets. */
function statOf(pid: number): { state: string; started: number } | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', started: Number(fields[19]) || 0 }
  } catch {
    return undefined
  }
}

let here: string | undefined

function place(): string {
  here ??= mix(`${hostname()} ${processNamespace()}`)
  return here
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** FNV-1a. */
function mix(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
