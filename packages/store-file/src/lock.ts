import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { ensureFolder } from './atomic-write.ts'
import { type FileSystem, orAbsent } from './file-system.ts'
import type { Database, OpenDatabase } from './index/driver.ts'
import { isBusy } from './index/index-file.ts'
import { type ProcessIdentity, thisProcess } from './process-identity.ts'

/** Critical sections take milliseconds: a lock held longer than this is held by something that hangs. */
export const lockTimeoutMs = 15_000

export type Lock = ReturnType<typeof createLock>

/**
 * One lock for all processes that write to a memory. It is an exclusive transaction on an empty SQLite file,
 * so the operating system itself releases it when its holder dies, and nothing can steal it from a living
 * one. Beside it stands who holds it, for people. Sections are synchronous: within a process they cannot
 * overlap.
 */
export function createLock(fileSystem: FileSystem, openDatabase: OpenDatabase, folder: string) {
  const path = join(folder, 'lock.db')
  let database: Database | undefined
  let held = false

  const acquire = (): Database => {
    if (database && !fileSystem.existsSync(path)) {
      database.close()
      database = undefined
    }
    if (!database) {
      ensureFolder(fileSystem, folder)
      database = openDatabase(path)
      database.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}`)
    }
    database.exec('BEGIN IMMEDIATE')
    return database
  }

  return {
    /** @throws MemoryError TIMEOUT, naming the holder, when another process does not let go */
    hold<T>(section: () => T): T {
      if (held) return section()
      let transaction: Database
      try {
        transaction = acquire()
      } catch (error) {
        if (!isBusy(error)) throw error
        throw new MemoryError(
          `another process has held the lock of this memory for ${lockTimeoutMs / 1000} s (${describeHolder(fileSystem, folder)}): end it, or try again`,
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

    close(): void {
      database?.close()
      database = undefined
    },
  }
}

const holderName = 'lock-holder.json'

function noteHolder(fileSystem: FileSystem, folder: string): void {
  const descriptor = fileSystem.openSync(join(folder, holderName), 'w')
  try {
    fileSystem.writeSync(descriptor, JSON.stringify({ ...thisProcess, since: new Date().toISOString() }))
  } finally {
    fileSystem.closeSync(descriptor)
  }
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
