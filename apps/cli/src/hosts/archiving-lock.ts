import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isGone, type ProcessIdentity, thisProcess } from '@recall/core/process'
import type { MemoryPlace } from './host-sessions.ts'

/** A holder that has begun no other session for so long hangs. */
const staleMs = 10 * 60_000
/** Time that a process has to write its identity into the lock it has just created. */
const writingMs = 1000

export interface ArchivingLock {
  /** To be called before each session: the holder is still at work. */
  renew(): void
  release(): void
}

/** Takes the lock that lets one process at a time archive sessions; `undefined` while another one holds it. */
export function takeArchivingLock({ root, layout }: MemoryPlace): ArchivingLock | undefined {
  const path = join(root, layout.internal, 'archiving.lock')
  mkdirSync(dirname(path), { recursive: true })
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(thisProcess()), { flag: 'wx' })
      return {
        renew: () => touch(path),
        release: () => rmSync(path, { force: true }),
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (isHeld(path)) return undefined
      rmSync(path, { force: true })
    }
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date())
  } catch (error) {
    // A person who deletes what is derived deletes the lock too. Work goes on: what two archive is archived once.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Whether a living process is at work; one that was killed leaves its lock behind. */
function isHeld(path: string): boolean {
  try {
    const { mtimeMs } = statSync(path)
    const age = Date.now() - mtimeMs
    const holder = parseHolder(readFileSync(path, 'utf8'))
    if (!holder) return age < writingMs
    return age < staleMs && !isGone(holder, () => mtimeMs)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(text) as ProcessIdentity | null
    return typeof holder?.pid === 'number' ? holder : undefined
  } catch {
    return undefined
  }
}
