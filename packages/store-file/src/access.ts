import type { FileSystem } from './files/file-system.ts'
import { finishJournal, journalPath } from './files/transaction.ts'
import { type Layout, placesOf } from './layout/layout.ts'
import type { Lock } from './lock.ts'
import type { Presence } from './presence.ts'
import type { MemoryIndex } from './search-index/memory-index.ts'

/** Checks before every use of a memory's files: they are there and whole, and only one process writes at a time. */
export interface MemoryAccess extends Presence {
  /** Finishes what a dead process began. */
  recover(): void
  /** Runs a section while no other process runs one. */
  hold<T>(section: () => T): T
  /** Like `hold`, but first checks that the memory is there and finishes what a dead process began. */
  exclusively<T>(section: () => T): T
}

interface AccessOptions {
  root: string
  layout: Layout
  fileSystem: FileSystem
  /** Folder of the journal. */
  internal: string
  lock: Lock
  presence: Presence
  index: MemoryIndex
}

export function createAccess(options: AccessOptions): MemoryAccess {
  const { root, layout, fileSystem, internal, lock, presence, index } = options
  const recover = (): void => {
    if (!fileSystem.existsSync(journalPath(internal))) return
    lock.hold(() => {
      for (const path of finishJournal(fileSystem, root, internal, placesOf(layout))) {
        index.changing(path)
        index.changed(path)
      }
    })
  }
  return {
    ...presence,
    recover,
    hold: lock.hold,
    exclusively(section) {
      presence.prepareMemory()
      return lock.hold(() => {
        recover()
        return section()
      })
    },
  }
}
