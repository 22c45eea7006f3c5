import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process, told apart from a later one that got the same id. */
export interface ProcessIdentity {
  pid: number
  /** Start time in the kernel's ticks; 0 where the platform does not tell. */
  started: number
}

export const thisProcess: ProcessIdentity = {
  pid: process.pid,
  get started() {
    return ownStart()
  },
}

const ownStart = once(() => startOf(process.pid))

/**
 * Eight hex digits for the set of processes whose ids mean the same here: this machine, or this container.
 * Of a process elsewhere nobody here can tell whether it lives.
 */
export const place: () => string = once(() => mix(`${hostname()} ${processNamespace()}`))

function isAlive({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return started === 0 || now === 0 || now === started
}

/** What a process elsewhere left untouched for this long belongs to nobody. */
const longestElsewhereMs = 60 * 60 * 1000

/**
 * Whether the process that keeps a file is gone: dead, if it ran here; silent for an hour, if it ran on
 * another machine or in another container.
 */
export function isGone(owner: ProcessIdentity, ownersPlace: string, lastWritten: () => number): boolean {
  if (ownersPlace === place()) return !isAlive(owner)
  return Date.now() - lastWritten() > longestElsewhereMs
}

/** Field 22 of `/proc/<pid>/stat`, counted after the command name, which may itself hold spaces and brackets. */
function startOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) || 0
  } catch {
    return 0
  }
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

/** Asks the system only when somebody wants to know, and only once. */
function once<T>(ask: () => T): () => T {
  let known: { answer: T } | undefined
  return () => {
    known ??= { answer: ask() }
    return known.answer
  }
}
