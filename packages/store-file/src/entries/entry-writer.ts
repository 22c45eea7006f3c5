import { dirname } from 'node:path'
import {
  type Address,
  type Change,
  type Entry,
  isEnvelope,
  isMemoryError,
  MemoryErrorCode,
  type PutOptions,
  type Selection,
} from '@recall/core'
import { alreadyExists, changedUnderneath } from '@recall/core/stores'
import { compareCodePoints } from '@recall/core/text'
import type { MemoryAccess } from '../access.ts'
import type { FileEntry } from '../documents/file-entry.ts'
import { printNote } from '../documents/note.ts'
import { createFile, removeFile, removeFiles, replaceFile } from '../files/atomic-write.ts'
import { isUnchanged, stampAt } from '../files/file-stamp.ts'
import type { FileSystem } from '../files/file-system.ts'
import { shownPath } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import { applyChanges } from '../files/transaction.ts'
import { createWorkspace, type Workspace } from '../files/workspace.ts'
import type { Layout } from '../layout/layout.ts'
import { placementOf, specialPlace } from '../layout/placement.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { AccessLog } from './access-log.ts'
import { asSuccessor, type EntryFiles } from './entry-files.ts'
import { createPlanner } from './plan-changes.ts'

export interface EntryWriterOptions {
  root: string
  layout: Layout
  fileSystem: FileSystem
  /** Folder of the journal. */
  internal: string
  index: MemoryIndex
  accessLog: AccessLog
  files: EntryFiles
  access: MemoryAccess
  /** @returns a function that removes the traces of what was removed for good */
  beginErasure(): () => void
}

/** How often to try writing a shared file that somebody keeps editing at the same moment. */
const attempts = 5

/** Writes entries to their files, removes them, and updates the index and the access log. */
export function createEntryWriter(options: EntryWriterOptions) {
  const { root, layout, fileSystem, internal, index, accessLog, files, beginErasure } = options
  const { recover, hold, exclusively, assertPresent, prepareFolder } = options.access
  const { notePath, readNote, toEntry, refuseForeignFile } = files
  const { planPut, planRemove, isSelected, assertExpected } = createPlanner({
    fileSystem,
    layout,
    index,
    files,
  })

  const changing = (paths: readonly string[], change: () => void): void =>
    index.whileChanging(
      paths.map((path) => shownPath(root, path)),
      change,
    )

  /**
   * Runs a write that reports each entry whose files it has read and is about to replace. Sealing an entry that was
   * plain is a removal for good of its text.
   */
  const sealing = <T>(write: (replacing: (entry: Entry) => void) => T): T => {
    let finish: (() => void) | undefined
    const result = write((entry) => {
      if (entry.encrypted && isPlain(files.readEntry(entry))) finish ??= beginErasure()
    })
    finish?.()
    return result
  }

  const putNote = (
    entry: Entry,
    putOptions: PutOptions,
    { replacing, source }: { replacing: (entry: Entry) => void; source?: string | undefined },
  ): void => {
    recover()
    prepareFolder(dirname(notePath(entry)))
    if (!putOptions.overwrite && createNote(entry, source)) return
    const replace = (): boolean => replaceNote(entry, putOptions, { replacing, source })
    for (let attempt = 1; attempt < attempts; attempt++) if (replace()) return
    if (!exclusively(replace)) throw changedUnderneath(entry)
  }

  /** @returns false when the file exists already, or when the file system cannot tell */
  const createNote = (entry: Entry, source?: string): boolean => {
    const path = notePath(entry)
    let created = false
    changing([path], () => {
      created = createFile(fileSystem, path, printNote(entry), { exclusively: hold, source })
    })
    if (created) accessLog.startAnew(entry)
    return created
  }

  /**
   * The entry in a note, unless it has expired. @throws MemoryError CONFLICT when the file is not a note of that key
   */
  const livingEntry = (path: string, address: Address, now: number): Entry | null => {
    const note = readNote(address)
    if (!note) {
      refuseForeignFile(path, address)
      return null
    }
    const entry = toEntry(address, note)
    return files.hasExpired(entry, now) ? null : entry
  }

  /** @returns false, with nothing changed, when somebody else changed the file after it was read */
  const replaceNote = (
    entry: Entry,
    { overwrite, now }: PutOptions,
    { replacing, source }: { replacing: (entry: Entry) => void; source?: string | undefined },
  ): boolean => {
    const path = notePath(entry)
    const before = stampAt(fileSystem, path)
    const standing = before && livingEntry(path, entry, now)
    if (standing && !overwrite) throw alreadyExists(entry)
    replacing(entry)
    const content = standing
      ? printNote(asSuccessor(entry, standing), readText(fileSystem, path)?.content)
      : printNote(entry)
    const verify = (): void => {
      if (!isUnchanged(fileSystem, path, before)) throw changedUnderneath(entry)
    }
    try {
      changing([path], () => replaceFile(fileSystem, path, content, { verify, exclusively: hold, source }))
    } catch (error) {
      if (isMemoryError(error, MemoryErrorCode.CONFLICT)) return false
      throw error
    }
    if (!standing) accessLog.startAnew(entry)
    return true
  }

  /** Plans on a workspace and applies the plan; plans again when somebody edited a file in the meantime. */
  const change = <T>(plan: (workspace: Workspace) => T, source?: string): T =>
    exclusively(() => {
      assertPresent()
      for (let attempt = 1; ; attempt++) {
        const changed = tryToChange(plan, { source, isLast: attempt === attempts })
        if (changed) return changed.result
      }
    })

  /**
   * @returns `undefined`, with nothing changed, when somebody edited a file in the meantime and the caller should retry
   */
  const tryToChange = <T>(
    plan: (workspace: Workspace) => T,
    { source, isLast }: { source?: string | undefined; isLast: boolean },
  ): { result: T } | undefined => {
    const workspace = createWorkspace(fileSystem)
    const result = index.lookingOnce(() => plan(workspace))
    const changes = workspace.changes().map((each) => ({ ...each, source }))
    for (const { path, content } of changes) if (content !== null) prepareFolder(dirname(path))
    const paths = changes.map(({ path }) => path)
    try {
      changing(paths, () => applyChanges(fileSystem, root, internal, changes, workspace.assertUnchanged))
    } catch (error) {
      if (isLast || !isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
      return undefined
    }
    return { result }
  }

  const hasExpired = (address: Address, now: number): boolean => {
    const file = readNote(address)
    return file !== null && files.hasExpired(toEntry(address, file), now)
  }

  return {
    /** @param source the file that the entry comes from: a new one is no more readable than that */
    put(entry: Entry, putOptions: PutOptions, source?: string): void {
      const placement = placementOf(entry)
      sealing((replacing) => {
        if (placement.kind === 'note' && specialPlace(entry) === null)
          return putNote(entry, putOptions, { replacing, source })
        const isNew = change((workspace) => {
          const isNew = planPut(workspace, entry, putOptions)
          replacing(entry)
          return isNew
        }, source)
        if (isNew) accessLog.startAnew(entry)
      })
    },

    /** All changes or none. */
    commit(changes: readonly Change[]): void {
      const removed = changes.flatMap((each) => ('put' in each ? [] : each.remove))
      sealing((replacing) => {
        const begun = change((workspace) => {
          assertExpected(workspace, changes)
          const begun = changes.flatMap((each) => {
            if (!('put' in each)) return []
            const isNew = planPut(workspace, each.put, each.options, each.expected)
            replacing(each.put)
            return isNew ? each.put : []
          })
          for (const address of lastFirst(removed)) planRemove(workspace, address)
          return begun
        })
        accessLog.forget(removed)
        for (const entry of begun) accessLog.startAnew(entry)
      })
    },

    /** Whether there was anything to remove. */
    remove(address: Address): boolean {
      if (specialPlace(address) !== null) {
        const removed = change((workspace) => planRemove(workspace, address))
        accessLog.forget([address])
        return removed
      }
      recover()
      assertPresent()
      // With nothing to remove, take no lock: it would fail on a disk that cannot be written.
      if (!readNote(address)) return false
      const removed = exclusively(() => {
        const path = notePath(address)
        if (!readNote(address)) return false
        changing([path], () => removeFile(fileSystem, path))
        return true
      })
      if (removed) accessLog.forget([address])
      return removed
    },

    /** Removes, in steps, the entries at the addresses that still match the selection; returns how many. */
    removeSelected(selected: readonly Address[], selection: Selection): number {
      const ordered = lastFirst(selected)
      let count = 0
      for (let at = 0; at < ordered.length; at += removedAtOnce) {
        const removed = change((workspace) => {
          // Somebody may have written an entry since it was selected.
          const still = ordered
            .slice(at, at + removedAtOnce)
            .filter((address) => isSelected(workspace, address, selection))
          for (const address of still) planRemove(workspace, address)
          return still
        })
        accessLog.forget(removed)
        count += removed.length
      }
      return count
    },

    hasExpired,

    /**
     * Checks again before it removes: an entry may have been written or read since. Call it under the lock.
     *
     * @returns how many were removed
     */
    removeExpired(addresses: readonly Address[], now: number): number {
      const expired = addresses.filter((address) => hasExpired(address, now))
      const paths = expired.map(notePath)
      changing(paths, () => removeFiles(fileSystem, paths))
      accessLog.forget(expired)
      return expired.length
    },
  }
}

const isPlain = (file: FileEntry | null): boolean => file !== null && !isEnvelope(file.value)

/** Entries that one step removes: their texts are in memory, and others wait for the lock. */
const removedAtOnce = 100

/** Sections that share a heading are numbered: removing one renumbers those after it, so the last goes first. */
const lastFirst = (addresses: readonly Address[]): Address[] =>
  [...addresses].sort((a, b) => b.key.length - a.key.length || compareCodePoints(b.key, a.key))
