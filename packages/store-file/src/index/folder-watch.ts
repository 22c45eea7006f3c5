import { existsSync, type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../file-system.ts'

/** However quiet the kernel is, everything is looked at again after this long: remote disks report nothing. */
const longestTrustMs = 1000

export interface FolderWatch {
  /** Lets notices that are already waiting arrive; call it before `isQuiet`. */
  settle(): Promise<void>
  /** Nothing happened in the folders since the last check that `checked` was told of. */
  isQuiet(): boolean
  /**
   * Runs a check of the folders, with the files that notices have named; what happens from its beginning on is
   * seen by the next one.
   */
  checked<T>(folders: () => readonly string[], check: (named: readonly string[]) => T): T
  close(): void
}

/**
 * Spares a long-lived store from looking at every file before every search. Linux tells of each change before
 * the call that made it returns, so a notice is waiting when somebody asks; other systems tell too late to
 * rely on, and there every search looks for itself.
 */
export function createFolderWatch(fileSystem: FileSystem): FolderWatch {
  if (process.platform !== 'linux' || fileSystem !== defaultFileSystem) return withoutNotices
  const watchers = new Map<string, FSWatcher>()
  const named = new Set<string>()
  let checks = 0
  let dirty = true
  let replaced = false
  /** A watch takes a turn of the event loop to begin. */
  let beginning = false
  let checkedAt = 0
  let broken = false

  const stop = (): void => {
    for (const watcher of watchers.values()) watcher.close()
    watchers.clear()
  }

  const fail = (): void => {
    broken = true
    stop()
  }

  const begin = (folders: readonly string[]): void => {
    const known = watchers.size
    for (const folder of folders) {
      if (watchers.has(folder) || !existsSync(folder)) continue
      try {
        const watcher = watch(folder, { persistent: false }, (event, name) => {
          dirty = true
          // Among them the folder itself, when it goes or moves.
          if (event === 'rename') replaced = true
          if (name !== null) named.add(join(folder, name))
        })
        watcher.on('error', fail)
        watchers.set(folder, watcher)
      } catch {
        // No more watches are to be had: every search looks for itself, as on other systems.
        fail()
        return
      }
    }
    if (watchers.size === known) return
    beginning = true
    setImmediate(() => {
      beginning = false
    }).unref()
  }

  return {
    async settle() {
      if (watchers.size > 0) await new Promise(setImmediate)
    },

    isQuiet: () => !dirty && watchers.size > 0 && Date.now() - checkedAt < longestTrustMs,

    checked(folders, check) {
      // A store that is asked only once, like a command's, would pay for nothing.
      if (++checks > 1 && !broken) {
        // A folder that was replaced keeps its name but not its watch.
        if (replaced) stop()
        replaced = false
        begin(folders())
      }
      const files = [...named]
      named.clear()
      dirty = beginning
      checkedAt = Date.now()
      try {
        return check(files)
      } catch (error) {
        dirty = true
        throw error
      }
    },

    close: stop,
  }
}

const withoutNotices: FolderWatch = {
  settle: async () => {},
  isQuiet: () => false,
  checked: (_folders, check) => check([]),
  close: () => {},
}
