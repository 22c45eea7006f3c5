import { defaultFileSystem, type FileSystem } from '../../src/files/file-system.ts'

/** Calls that change something on disk, or make it durable. */
const mutating = new Set([
  'openSync',
  'writeSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'mkdirSync',
  'renameSync',
  'unlinkSync',
  'closeSync',
]) // prettier-ignore

export interface FaultyFileSystem {
  fileSystem: FileSystem
  /** Mutating calls so far, with the file or descriptor each was for. */
  calls: { name: string; target: unknown }[]
}

function intercept(before: (name: string, count: number) => void): FaultyFileSystem {
  const calls: FaultyFileSystem['calls'] = []
  const fileSystem = new Proxy(defaultFileSystem, {
    get(target, name: keyof FileSystem) {
      const original = target[name] as (...given: unknown[]) => unknown
      if (name === 'realpathSync') return original
      return (...given: unknown[]) => {
        if (mutating.has(name)) calls.push({ name, target: given[0] })
        try {
          before(name, calls.length)
        } catch (error) {
          // As on Linux, where a file is closed even if that fails, and when a process dies.
          if (name === 'closeSync') original(...given)
          throw error
        }
        return original(...given)
      }
    },
  })
  return { fileSystem, calls }
}

export class ProcessDied extends Error {}

/** The process dies just before its `k`-th mutating call: that one and everything after it never happens. */
export function dyingFileSystem(k: number): FaultyFileSystem {
  return intercept((_name, count) => {
    if (count >= k) throw new ProcessDied(`died before call ${k}`)
  })
}

/** The process is really killed just before its `k`-th mutating call. */
export function killingFileSystem(k: number): FaultyFileSystem {
  return intercept((_name, count) => {
    if (count >= k) process.kill(process.pid, 'SIGKILL')
  })
}

/** The `k`-th mutating call fails once, unless `disarm` was called before it. */
export function failingFileSystem(k: number, code: string): FaultyFileSystem & { disarm(): void } {
  let armed = true
  const faulty = intercept((name, count) => {
    if (count !== k || !armed || !mutating.has(name)) return
    armed = false
    throw Object.assign(new Error(`${code}: simulated, ${name.replace('Sync', '')}`), { code })
  })
  return {
    ...faulty,
    disarm() {
      armed = false
    },
  }
}

/** Every mutating call fails, as on a disk mounted read-only. */
export function readOnlyFileSystem(code: string): FaultyFileSystem {
  return intercept((name) => {
    const isRead = name === 'openSync' || name === 'closeSync'
    if (mutating.has(name) && !isRead) {
      throw Object.assign(new Error(`${code}: simulated, ${name.replace('Sync', '')}`), { code })
    }
  })
}

/** Something is done just before the `k`-th mutating call after `arm`, once. */
export function interruptedFileSystem(k: number, what: () => void): FaultyFileSystem & { arm(): void } {
  let due = Number.POSITIVE_INFINITY
  const interrupted = intercept((_name, count) => {
    if (count < due) return
    due = Number.POSITIVE_INFINITY
    what()
  })
  return {
    ...interrupted,
    arm() {
      due = interrupted.calls.length + k
    },
  }
}
