import { join } from 'node:path'
import { type Address, type Entry, MemoryError, MemoryErrorCode } from '@recall/core'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { ensureInternal } from '../files/folders.ts'
import { removeSetAside, setAside } from '../sqlite/damage.ts'
import { createStatements, type Database, type OpenDatabase } from '../sqlite/driver.ts'
import { isBusy, isDamage, isDiskFull, isUnwritable } from '../sqlite/errors.ts'
import { busyMs, useWriteAheadLog } from '../sqlite/write-ahead-log.ts'

/** Which version of an entry an access belongs to: a rewritten entry starts its expiry anew. */
interface Version {
  created: number
  updated: number
}

export interface Access {
  at: number
  count: number
  expires: number | null
}

const schema = `
CREATE TABLE IF NOT EXISTS access (
  scope TEXT NOT NULL,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  at INTEGER NOT NULL,
  count INTEGER NOT NULL,
  expires INTEGER,
  PRIMARY KEY (scope, namespace, key)
) WITHOUT ROWID;
`

export type AccessLog = ReturnType<typeof createAccessLog>

/**
 * When and how often entries were read, and how far their expiry slid. Kept apart from the files, so that
 * reading a memory does not rewrite it, and apart from the index, which may be deleted at any time. What
 * cannot be counted can still be read: a damaged log starts anew, and one that another process holds for
 * long is no error, nor is a full or read-only disk.
 */
export function createAccessLog(
  fileSystem: FileSystem,
  openDatabase: OpenDatabase,
  folder: string,
  onNotice: (text: string) => void,
) {
  const path = join(folder, 'access.db')
  let opened: { database: Database; sql: ReturnType<typeof createStatements>; inode: number } | undefined
  let isReadOnly = false
  let isFull = false
  let isHeld = false

  const inode = (): number | undefined => statusOf(fileSystem, path)?.ino

  const open = (create: boolean): typeof opened => {
    const present = inode()
    // The file was deleted or replaced: nobody would see what is counted in the old one.
    if (opened && opened.inode !== present) close()
    if (opened || isReadOnly || (!create && present === undefined)) return opened
    ensureInternal(fileSystem, folder)
    const database = openDatabase(path)
    try {
      database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA synchronous = NORMAL`)
      useWriteAheadLog(database)
      database.exec(schema)
    } catch (error) {
      database.close()
      throw error
    }
    opened = { database, sql: createStatements(database), inode: inode() ?? 0 }
    return opened
  }

  const close = (): void => {
    opened?.database.close()
    opened = undefined
  }

  /** Runs a call on the log, if there is one; on a damaged log it runs again on a new one. */
  const onSoundLog = <T>(create: boolean, call: (log: NonNullable<typeof opened>) => T): T | undefined => {
    const run = (): T | undefined => {
      const log = open(create)
      return log && call(log)
    }
    try {
      return run()
    } catch (error) {
      if (!isDamage(error)) throw error
      close()
      onNotice(
        `the access counts were damaged: they were moved to ${setAside(fileSystem, path)} and start anew`,
      )
      return run()
    }
  }

  /** Runs a call on the log, or answers `undefined` where there is none, or none that can be used. */
  const using = <T>(create: boolean, call: (log: NonNullable<typeof opened>) => T): T | undefined => {
    try {
      return onSoundLog(create, call)
    } catch (error) {
      if (isBusy(error)) {
        if (!isHeld) onNotice(`${path} is held by another process: accesses are not counted meanwhile`)
        isHeld = true
        return undefined
      }
      if (!isUnwritable(error)) throw error
      close()
      if (isDiskFull(error)) {
        if (!isFull) onNotice(`${path} cannot be written, the disk is full: accesses are not counted`)
        isFull = true
      } else isReadOnly = true
      return undefined
    }
  }

  const row = (address: Address): (Access & Version) | undefined =>
    using(
      false,
      ({ sql }) =>
        sql(
          'SELECT created, updated, at, count, expires FROM access WHERE scope = ? AND namespace = ? AND key = ?',
        ).get(address.scope, address.namespace, address.key) as (Access & Version) | undefined,
    )

  const forget = (addresses: readonly Address[]): void => {
    if (addresses.length === 0) return
    using(false, ({ database, sql }) => {
      const statement = sql('DELETE FROM access WHERE scope = ? AND namespace = ? AND key = ?')
      together(database, () => {
        for (const { scope, namespace, key } of addresses) statement.run(scope, namespace, key)
      })
    })
  }

  return {
    read(address: Address, { created, updated }: Version): Access | null {
      const known = row(address)
      if (!known || known.created !== created) return null
      const { at, count, expires } = known
      return { at, count, expires: known.updated === updated ? expires : null }
    },

    /**
     * Call it before an entry is taken for expired for good: without the log it looks as if nobody had read it.
     *
     * @throws MemoryError UNAVAILABLE when there is a log that cannot be read
     */
    assertReadable(): void {
      if (inode() === undefined || using(false, ({ sql }) => sql('SELECT count(*) FROM access').get())) return
      throw new MemoryError(
        `${path} cannot be read, so nobody knows which memories were read lately: nothing was deleted; check who may read and write that file`,
        MemoryErrorCode.UNAVAILABLE,
        { details: { path } },
      )
    },

    /** The expiry of this version of an entry, as postponed by reads. */
    slidExpiry(scope: string, namespace: string, key: string, updated: number): number | null {
      const known = row({ scope, namespace, key } as Address)
      return known?.updated === updated ? known.expires : null
    },

    /** Counts one access for each entry. */
    record(
      accesses: readonly { address: Address; version: Version; expires: number | null }[],
      at: number,
    ): void {
      using(true, ({ database, sql }) => {
        const statement = sql(
          `INSERT INTO access (scope, namespace, key, created, updated, at, count, expires) VALUES (?, ?, ?, ?, ?, ?, 1, ?)
         ON CONFLICT DO UPDATE SET at = CASE WHEN created = excluded.created THEN max(at, excluded.at) ELSE excluded.at END,
           expires = CASE WHEN created = excluded.created AND updated = excluded.updated
             THEN max(coalesce(expires, excluded.expires), excluded.expires) ELSE excluded.expires END,
           updated = excluded.updated,
           count = CASE WHEN created = excluded.created THEN count + 1 ELSE 1 END, created = excluded.created`,
        )
        together(database, () => {
          for (const { address, version, expires } of accesses) {
            const { scope, namespace, key } = address
            statement.run(scope, namespace, key, version.created, version.updated, at, expires)
          }
        })
        isFull = false
        isHeld = false
      })
    },

    /** Accesses of a scope, by key. */
    all(scope: string, namespace: string): Map<string, { at: number; count: number }> {
      const rows = using(false, ({ sql }) =>
        sql('SELECT key, at, count FROM access WHERE scope = ? AND namespace = ?').all(scope, namespace),
      )
      return new Map(
        ((rows ?? []) as { key: string; at: number; count: number }[]).map((row) => [row.key, row]),
      )
    },

    /** Replaces the accesses of an earlier entry of the address by those that a new one brings along. */
    startAnew(entry: Entry): void {
      const { scope, namespace, key, createdAt, updatedAt, accessedAt, accessCount, expiresAt } = entry
      const known = row(entry)
      if (known?.created === createdAt) return
      if (known) forget([entry])
      if (accessCount === 0) return
      // Another process may have counted an access to the new entry since.
      using(true, ({ sql }) =>
        sql(
          'INSERT OR REPLACE INTO access (scope, namespace, key, created, updated, at, count, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        ).run(scope, namespace, key, createdAt, updatedAt, accessedAt, accessCount, expiresAt),
      )
    },

    forget,

    /** Runs a section while nobody counts an access, so that a copy of the log's files is whole. */
    withoutCounting<T>(section: () => T): T {
      const held = using(false, ({ database }) => {
        database.exec('BEGIN IMMEDIATE')
        return database
      })
      try {
        return section()
      } finally {
        if (held) rollBack(held)
      }
    },

    /**
     * Leaves no trace of the keys that were forgotten.
     *
     * @throws MemoryError WRITE_FAILED when there is a log that cannot be written
     */
    compact(): void {
      removeSetAside(fileSystem, path)
      const isCompact = using(false, ({ database }) => {
        database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
        return true
      })
      if (isCompact || inode() === undefined) return
      throw new MemoryError(
        `${path} may still name memories that were deleted: it cannot be written, or another process holds it; try again`,
        MemoryErrorCode.WRITE_FAILED,
        { details: { path } },
      )
    },

    close,
  }
}

/** Runs statements in one transaction. */
function together(database: Database, call: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    call()
    database.exec('COMMIT')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** A failed statement may have ended the transaction already. */
function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}
