import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { ensureFolder, writing } from './atomic-write.ts'
import { type FileSystem, orAbsent } from './file-system.ts'
import type { Database, OpenDatabase } from './index/driver.ts'
import { isBusy, isDamage } from './index/index-file.ts'
import { type ProcessIdentity, thisProcess } from './process-identity.ts'

/** Critical sections take milliseconds: a lock held longer than this is held by something that hangs. */
const lockTimeoutMs = 15_000

/**
 * One lock for all processes that write to a memory. It is an exclusive transaction on an empty SQLite file,
 * so the operating system itself releases it when its holder dies, and nothing can steal it from a living
 * one. Beside it stands who holds it, for people. Sections are synchronous: within a process they cannot
 * overlap.
 */
export function createLock(
  fileSystem: FileSystem,
  openDatabase: OpenDatabase,
  folder: string,
  timeoutMs: number = lockTimeoutMs,
) {
  const path = join(folder, 'lock.db')
  let opened: { database: Database; inode: number } | undefined
  let held = false

  const inode = (): number | undefined => orAbsent(() => fileSystem.lstatSync(path))?.ino

  const open = (): Database => {
    if (opened && opened.inode !== inode()) close()
    if (!opened) {
      ensureFolder(fileSystem, folder)
      const database = openDatabase(path)
      database.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
      opened = { database, inode: inode() ?? 0 }
    }
    return opened.database
  }

  const begin = (database: Database): void => {
    try {
      database.exec('BEGIN IMMEDIATE')
    } catch (error) {
      if (!isDamage(error)) throw error
      // Nothing is kept in this file. Emptied in place it stays the same lock for everybody.
      fileSystem.closeSync(fileSystem.openSync(path, 'w'))
      database.exec('BEGIN IMMEDIATE')
    }
  }

  const acquire = (): Database => {
    for (;;) {
      const database = open()
      begin(database)
      // A lock on a file that was deleted meanwhile keeps nobody out.
      if (opened?.inode === inode()) return database
      close()
    }
  }

  const close = (): void => {
    opened?.database.close()
    opened = undefined
  }

  return {
    /**
     * @throws MemoryError TIMEOUT, naming the holder, when another process does not let go; WRITE_FAILED when
     * the lock cannot be kept, as in a folder that may not be written
     */
    hold<T>(section: () => T): T {
      if (held) return section()
      let transaction: Database
      try {
        transaction = writing(path, acquire)
      } catch (error) {
        if (!isBusy(error)) throw error
        throw new MemoryError(
          `another process has held the lock of this memory for ${timeoutMs / 1000} s (${describeHolder(fileSystem, folder)}): end it, or try again`,
          MemoryErrorCode.TIMEOUT,
          { cause: error, details: { path } },
        )
      }
      held = true
      try {
        noteHolder(fileSystem, folder)
        return section()
      } finally {
        held = false
        transaction.exec('ROLLBACK')
      }
    },

    close,
  }
}

const holderName = 'lock-holder.json'

/** Best effort: the note is for people, and a full disk must not keep anybody from deleting. */
function noteHolder(fileSystem: FileSystem, folder: string): void {
  try {
    const descriptor = fileSystem.openSync(join(folder, holderName), 'w')
    try {
      fileSystem.writeSync(descriptor, JSON.stringify({ ...thisProcess, since: new Date().toISOString() }))
    } finally {
      fileSystem.closeSync(descriptor)
    }
  } catch {}
}

function describeHolder(fileSystem: FileSystem, folder: string): string {
  const text = orAbsent(() => fileSystem.readFileSync(join(folder, holderName), 'utf8'))
  try {
    const { pid, since } = JSON.parse(text ?? '') as ProcessIdentity & { since: string }
    return `process ${pid}, since ${since}`
  } catch {
    return 'its process is not known'
  }
}
