import type { Address, Entry } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import type { Database, OpenDatabase } from '../sqlite/driver.ts'
import { createAccessDatabase, type OpenedLog } from './access-database.ts'

/** The version of an entry that an access belongs to: a rewritten entry starts its expiry afresh. */
interface Version {
  created: number
  updated: number
}

export interface Access {
  at: number
  count: number
  expires: number | null
}

/** A row of the log. */
type KnownAccess = Access & Version

/** What the log says of a version of an entry. Of an earlier one only the count goes on: overwriting is an access. */
export function accessTo(known: KnownAccess | undefined, { created, updated }: Version): Access | null {
  if (known?.created !== created) return null
  const { at, count, expires } = known
  return known.updated === updated ? { at, count, expires } : { at: 0, count, expires: null }
}

export type AccessLog = ReturnType<typeof createAccessLog>

/**
 * When and how often entries were read, and how far their expiry slid. Separate from the files, so that reading a
 * memory does not rewrite it, and separate from the index, which may be deleted at any time.
 */
export function createAccessLog(
  fileSystem: FileSystem,
  openDatabase: OpenDatabase,
  folder: string,
  onNotice: (text: string) => void,
  now?: () => number,
) {
  const { ifPresent, making, isReadable, assertReadable, compact, close } = createAccessDatabase(
    fileSystem,
    openDatabase,
    folder,
    onNotice,
    now,
  )

  const row = (address: Address): KnownAccess | undefined =>
    ifPresent(
      ({ sql }) =>
        sql(
          'SELECT created, updated, at, count, expires FROM access WHERE scope = ? AND namespace = ? AND key = ?',
        ).get(address.scope, address.namespace, address.key) as KnownAccess | undefined,
    )

  const forget = (addresses: readonly Address[]): void => {
    if (addresses.length > 0) ifPresent((log) => remove(log, addresses))
  }

  return {
    read: (address: Address, version: Version): Access | null => accessTo(row(address), version),

    /** Call it before removing an entry as expired: without the log every entry looks as if nobody had read it. */
    assertReadable,

    /** The expiry of this version of an entry, as postponed by reads. */
    slidExpiry(scope: string, namespace: string, key: string, updated: number): number | null {
      const known = row({ scope, namespace, key } as Address)
      return known?.updated === updated ? known.expires : null
    },

    /**
     * Of some versions of entries, those that reads keep alive beyond an instant, with their expiry; `null` while the
     * log cannot be read.
     */
    keptAlive<Row extends Address & { updated: number }>(
      rows: readonly Row[],
      now: number,
    ): (Row & { expires: number })[] | null {
      const found = ifPresent(({ sql }) => {
        const later = sql(
          'SELECT expires FROM access WHERE scope = ? AND namespace = ? AND key = ? AND updated = ? AND expires > ?',
        )
        return rows.flatMap((row) => {
          const { scope, namespace, key, updated } = row
          const slid = later.get(scope, namespace, key, updated, now) as { expires: number } | undefined
          return slid ? [{ ...row, ...slid }] : []
        })
      })
      return found ?? (isReadable() ? [] : null)
    },

    /**
     * Counts one access for each entry. An access to an earlier entry or version that is counted late, after a later
     * access to its successor, moves back neither the expiry nor the last access of the successor.
     */
    record(
      accesses: readonly { address: Address; version: Version; expires: number | null }[],
      at: number,
    ): void {
      making(({ database, sql }) => {
        const statement = sql(
          `INSERT INTO access (scope, namespace, key, created, updated, at, count, expires) VALUES (?, ?, ?, ?, ?, ?, 1, ?)
         ON CONFLICT DO UPDATE SET
           at = CASE
             WHEN created = excluded.created AND updated >= excluded.updated THEN max(at, excluded.at)
             ELSE excluded.at END,
           expires = CASE
             WHEN created = excluded.created AND updated = excluded.updated
               THEN max(coalesce(expires, excluded.expires), excluded.expires)
             WHEN created = excluded.created AND updated > excluded.updated AND at > excluded.at THEN expires
             ELSE excluded.expires END,
           updated = CASE
             WHEN created = excluded.created AND at > excluded.at THEN max(updated, excluded.updated)
             ELSE excluded.updated END,
           count = CASE WHEN created = excluded.created THEN count + 1 ELSE 1 END, created = excluded.created
         WHERE created <= excluded.created OR at <= excluded.at`,
        )
        together(database, () => {
          for (const { address, version, expires } of accesses) {
            const { scope, namespace, key } = address
            statement.run(scope, namespace, key, version.created, version.updated, at, expires)
          }
        })
      })
    },

    /** The accesses of a scope, by key. */
    all(scope: string, namespace: string): Map<string, KnownAccess> {
      const rows = ifPresent(({ sql }) =>
        sql(
          'SELECT key, created, updated, at, count, expires FROM access WHERE scope = ? AND namespace = ?',
        ).all(scope, namespace),
      )
      return new Map(((rows ?? []) as (KnownAccess & { key: string })[]).map((row) => [row.key, row]))
    },

    /** Replaces the accesses of an earlier entry at the address by those that the new one brings along. */
    startAnew(entry: Entry): void {
      const { scope, namespace, key, createdAt, updatedAt, accessedAt, accessCount, expiresAt } = entry
      const known = row(entry)
      if (known?.created === createdAt) return
      if (known) forget([entry])
      if (accessCount === 0) return
      // Another process may have counted an access to the new entry since.
      making(({ sql }) =>
        sql(
          'INSERT OR REPLACE INTO access (scope, namespace, key, created, updated, at, count, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        ).run(scope, namespace, key, createdAt, updatedAt, accessedAt, accessCount, expiresAt),
      )
    },

    forget,

    /** Runs a section while nobody counts an access, so that a copy of the log's files is whole. */
    withoutCounting<T>(section: () => T): T {
      const held = ifPresent(({ database }) => {
        database.exec('BEGIN IMMEDIATE')
        return database
      })
      try {
        return section()
      } finally {
        if (held) rollBack(held)
      }
    },

    /** Every entry whose accesses are counted. */
    addresses: (): Address[] =>
      (ifPresent(({ sql }) => sql('SELECT scope, namespace, key FROM access').all()) ?? []) as Address[],

    /**
     * Forgets entries, and leaves no trace of them and of those that were forgotten before.
     *
     * @throws MemoryError WRITE_FAILED when there is a log that cannot be written
     */
    compact: (gone: readonly Address[]): void => compact((log) => remove(log, gone)),

    close,
  }
}

function remove({ database, sql }: OpenedLog, addresses: readonly Address[]): void {
  const statement = sql('DELETE FROM access WHERE scope = ? AND namespace = ? AND key = ?')
  together(database, () => {
    for (const { scope, namespace, key } of addresses) statement.run(scope, namespace, key)
  })
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
