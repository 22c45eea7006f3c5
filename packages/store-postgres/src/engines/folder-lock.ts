import { readdirSync, readFileSync, statSync, unlinkSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  createFolder,
  isGone,
  longestElsewhereMs,
  orAbsent,
  type ProcessIdentity,
  thisProcess,
  writeNewFile,
} from '@recall/core/process'

export interface FolderLock {
  release(): void
}

/** The process that has the folder open. The host is only shown to people. */
interface Holder extends ProcessIdentity {
  host: string
}

/** A holder, and the file that says so. */
interface Note {
  holder: Holder
  path: string
}

let locks = 0

/**
 * Claims a folder for one opener. Each opener writes a lock file with a unique name, and then looks for the files of
 * others: if two start at once, at least one sees the other and withdraws. Lock files of dead processes are removed,
 * those of living ones never.
 *
 * @throws MemoryError CONFLICT, naming the holder
 */
export function lockFolder(folder: string): FolderLock {
  createFolder(folder)
  const own = `lock-${process.pid}-${Date.now().toString(36)}-${++locks}.json`
  const path = join(folder, own)
  const holder: Holder = { ...thisProcess(), host: hostname() }
  // Durable, because a power cut would leave an empty file, which in a container counts as that of the living process
  // with the same id.
  writeNewFile(path, JSON.stringify(holder))
  const release = (): void => removeFile(path)
  try {
    const other = noteOfOther(folder, own)
    if (other) throw alreadyOpen(folder, other)
  } catch (error) {
    release()
    throw error
  }
  const sign = setInterval(() => showLife(path), longestElsewhereMs / 4).unref()
  return {
    release() {
      clearInterval(sign)
      release()
    },
  }
}

function alreadyOpen(folder: string, { holder, path }: Note): MemoryError {
  const { pid, host, place } = holder
  return new MemoryError(
    `${folder} is open in process ${pid} (${host}): close it there first, or use a Postgres server, which any number of processes can share${place === thisProcess().place ? '' : adviceOn(path)}`,
    MemoryErrorCode.CONFLICT,
    { details: { path: folder, pid, note: path } },
  )
}

/** Advice for a container that was killed and restarted: it cannot see that its earlier self is dead. */
const adviceOn = (note: string): string =>
  `. That process is on another machine or in another container, so whether it is alive cannot be seen from here: it counts as gone ${longestElsewhereMs / 60_000} minutes after it last touched ${note}; if you are sure that it is dead, delete that file`

/** For openers on other machines, which cannot check whether this process is alive. */
function showLife(path: string): void {
  try {
    utimesSync(path, new Date(), new Date())
  } catch {
    // A folder that is briefly unreachable must not end the process: the next sign of life comes in time.
  }
}

function noteOfOther(folder: string, own: string): Note | undefined {
  for (const name of readdirSync(folder)) {
    if (name === own || !/^lock-.*\.json$/.test(name)) continue
    const path = join(folder, name)
    const holder = readHolder(path)
    if (!holder) continue
    const written = (): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (!isGone(holder, written)) return { holder, path }
    removeFile(path)
  }
  return undefined
}

/** Returns `undefined` when the lock was released meanwhile. */
function readHolder(path: string): Holder | undefined {
  const text = orAbsent(() => readFileSync(path, 'utf8'))
  if (text === null) return undefined
  try {
    return JSON.parse(text) as Holder
  } catch {
    // The file is being written, or its writer died while writing: the pid is in the name, too.
    const pid = Number(/^lock-(\d+)-/.exec(path.slice(path.lastIndexOf('lock-')))?.[1])
    return { ...thisProcess(), host: hostname(), pid, started: 0 }
  }
}

const removeFile = (path: string): void => void orAbsent(() => unlinkSync(path))
