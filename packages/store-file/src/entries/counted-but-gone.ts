import { type Address, isMemoryError } from '@recall/core'
import type { Layout } from '../layout/layout.ts'
import { mayHold } from '../layout/sources.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { AccessLog } from './access-log.ts'
import type { EntryFiles } from './entry-files.ts'

export interface CountedButGoneOptions {
  layout: Layout
  index: MemoryIndex
  accessLog: AccessLog
  files: EntryFiles
}

/**
 * Entries whose accesses are counted although no file holds them any more, because somebody removed the file. Archived
 * entries are among them: they carry their own counts. Call it under the lock.
 */
export function countedButGone({ layout, index, accessLog, files }: CountedButGoneOptions): Address[] {
  const counted = accessLog.addresses()
  return index.lookingOnce(() => {
    const current = index.fresh()
    const unread = current.unread()
    const isIndexed = ({ scope, namespace, key }: Address): boolean =>
      current.byKey(scope, namespace, key) !== undefined
    const isPerhapsUnread = (address: Address): boolean =>
      unread.some(({ folder, name }) => mayHold(layout, folder, name, address))
    // The file decides, not the index: without its last access an entry may expire early.
    return counted.filter(
      (address) => !isIndexed(address) && !isPerhapsUnread(address) && !mayBeInFile(files, address),
    )
  })
}

function mayBeInFile(files: EntryFiles, address: Address): boolean {
  try {
    return files.readEntry(address) !== null
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return true
  }
}
