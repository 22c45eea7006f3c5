import { readFileSync } from 'node:fs'

/** A process, told apart from a later one that got the same id. */
export interface ProcessIdentity {
  pid: number
  /** Start time in the kernel's ticks; 0 where the platform does not tell. */
  started: number
}

export const thisProcess: ProcessIdentity = { pid: process.pid, started: startOf(process.pid) }

export function isAlive({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return started === 0 || now === 0 || now === started
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
