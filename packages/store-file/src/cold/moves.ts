import {
  type Address,
  type ArchiveRun,
  type ArchiveSelection,
  type Entry,
  isMemoryError,
  MemoryErrorCode,
  type Place,
} from '@recall/core'
import { equalJson } from '@recall/core/json'
import { asRestored, writtenSinceArchived } from '@recall/core/stores'
import type { MemoryAccess } from '../access.ts'
import { placementOf } from '../layout/placement.ts'
import type { ColdFiles } from './cold-files.ts'

/** What moving needs to know of the entries that are not archived. */
export interface CurrentFiles {
  /**
   * Entries last written before a time, according to the index, without the conversations, which have files of their
   * own.
   */
  olderThan(place: Place, before: number): Address[]
  /** @throws MemoryError CORRUPTION when the file does not hold what it announces */
  get(address: Address, now: number): Entry | null
  /** The file of an entry that is a note. */
  pathOf(address: Address): string
  /**
   * @param source the file that the entry comes from: the new one is no more readable than that
   * @throws MemoryError CONFLICT when the key exists by now
   */
  put(entry: Entry, now: number, source: string): void
  /** @throws MemoryError CONFLICT when somebody wrote or deleted the entry meanwhile */
  removeAsRead(entry: Entry): void
}

/**
 * Moves entries to the archive and back, each under the memory's lock. People take no lock, so the copy is made first,
 * and is removed again if the original was touched in between.
 */
export function createMoves(current: CurrentFiles, cold: ColdFiles, { exclusively }: MemoryAccess) {
  /** The file decides, not the index. */
  const readOld = (address: Address, before: number, now: number): Entry | null => {
    const entry = current.get(address, now)
    // Conversations are archives already: markdown that people read, numbered and listed in a table. One may have got
    // its file since the index was asked.
    return entry && entry.updatedAt < before && placementOf(entry).kind === 'note' ? entry : null
  }

  /** Returns whether the entry was moved. */
  const archiveEntry = (address: Address, before: number, now: number): boolean => {
    const entry = readOld(address, before, now)
    if (!entry) return false
    const earlier = cold.get(address, now)
    cold.put(entry, { overwrite: true, now }, current.pathOf(entry))
    try {
      current.removeAsRead(entry)
      return true
    } catch (error) {
      // After any other error the original may be gone, although its removal could not be made durable.
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
      if (earlier) cold.put(earlier, { overwrite: true, now })
      else cold.remove(address)
      return false
    }
  }

  return {
    archive({
      before,
      now,
      dryRun,
      limit = Number.POSITIVE_INFINITY,
      ...place
    }: ArchiveSelection): ArchiveRun {
      const run: ArchiveRun = { archived: 0, errors: [] }
      for (const address of current.olderThan(place, before)) {
        if (run.archived >= limit) break
        try {
          const moved = dryRun
            ? readOld(address, before, now) !== null
            : exclusively(() => archiveEntry(address, before, now))
          if (moved) run.archived++
        } catch (error) {
          run.errors.push({ key: address.key, message: (error as Error).message })
        }
      }
      return run
    },

    restore(address: Address, now: number): boolean {
      return exclusively(() => {
        const copy = cold.get(address, now)
        if (!copy) return false
        const present = current.get(address, now)
        if (present && !equalJson(present.value, copy.value)) throw writtenSinceArchived(address)
        if (!present) current.put(asRestored(copy, now), now, cold.pathOf(address))
        cold.remove(address)
        return true
      })
    },
  }
}
