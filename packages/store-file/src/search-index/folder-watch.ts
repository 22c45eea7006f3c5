import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'

/** Check everything again after this long even without events, because remote disks report none. */
const longestTrustMs = 1000
/** With more files than this, the system may have had to drop some of its events. */
const mostNamed = 1000

/** What events have told since the last check. */
export interface ToldChanges {
  named: readonly string[]
  /** Whether nothing but the named files can have changed. */
  areAll: boolean
  /** Whether so many files were named that any file may have changed, and none is named any more. */
  tooMany: boolean
}

export interface FolderWatch {
  /** Lets pending events arrive; call it before `isQuiet`. */
  settle(): Promise<void>
  /** Whether no event has arrived since the last check made through `checked`. */
  isQuiet(): boolean
  /**
   * Runs a check of the folders, given what the events have told. Events that arrive after its start count for the next
   * check.
   */
  checked<T>(folders: () => readonly string[], check: (told: ToldChanges) => T): T
  close(): void
}

/**
 * Saves a long-lived store from looking at every file before every search. Linux reports each change before the call
 * that made it returns, and Node delivers the event in its next turn; other systems and runtimes report too late to
 * rely on, so there every search checks the files itself.
 */
export function createFolderWatch(fileSystem: FileSystem): FolderWatch {
  if (!tellsInTime() || fileSystem !== defaultFileSystem) return withoutNotices
  const watchers = new Map<string, FSWatcher>()
  const named = new Set<string>()
  let checks = 0
  /** Something may have changed without an event that names it. */
  let unnamed = true
  /** There were more names than are kept. */
  let tooMany = false
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

  /** Whether an event means that a watched folder was moved or replaced: the folder itself or one that contains it. */
  const isOfFolders = (folder: string, name: string): boolean => {
    const path = join(folder, name)
    const isAbove = (watched: string): boolean => watched === path || watched.startsWith(path + sep)
    return name === basename(folder) || [...watchers.keys()].some(isAbove)
  }

  const forgetNames = (): void => {
    named.clear()
    tooMany = true
  }

  const note = (folder: string, event: string, name: string | null): void => {
    if (name === null) unnamed = true
    else if (!tooMany) named.add(join(folder, name))
    // A process may never check again.
    if (named.size > mostNamed) forgetNames()
    if (event === 'rename' && (name === null || isOfFolders(folder, name))) replaced = true
  }

  const isTrusted = (): boolean =>
    !unnamed &&
    !tooMany &&
    !replaced &&
    watchers.size > 0 &&
    Math.abs(Date.now() - checkedAt) < longestTrustMs

  const begin = (folders: readonly string[]): void => {
    const known = watchers.size
    for (const folder of folders) {
      if (watchers.has(folder) || !existsSync(folder)) continue
      try {
        const watcher = watch(folder, { persistent: false }, (event, name) => note(folder, event, name))
        watcher.on('error', fail)
        watchers.set(folder, watcher)
      } catch {
        // The system has no more watches to give: every search checks the files, as on other systems.
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
      if (watchers.size === 0) return
      // The current turn may have looked for events before the last change was made. The next one looks after it.
      await new Promise(setImmediate)
      await new Promise(setImmediate)
    },

    isQuiet: () => named.size === 0 && isTrusted(),

    checked(folders, check) {
      // A store that is searched once or twice, as by a command, would pay for watches that it never uses.
      if (++checks > 2 && !broken) {
        // A folder that was replaced keeps its name but not its watch.
        if (replaced) stop()
        replaced = false
        begin(folders())
      }
      const told = { named: [...named], areAll: isTrusted() && !beginning, tooMany }
      named.clear()
      tooMany = false
      unnamed = beginning
      if (!told.areAll) checkedAt = Date.now()
      try {
        return check(told)
      } catch (error) {
        unnamed = true
        tooMany ||= told.tooMany
        throw error
      }
    },

    close: stop,
  }
}

const tellsInTime = (): boolean =>
  process.platform === 'linux' && !process.versions.bun && !process.versions.deno

const withoutNotices: FolderWatch = {
  settle: async () => {},
  isQuiet: () => false,
  checked: (_folders, check) => check({ named: [], areAll: false, tooMany: false }),
  close: () => {},
}
