import { join } from 'node:path'
import type { Address } from '@recall/core'
import { ensureFolder } from './atomic-write.ts'
import { errorCode, type FileSystem } from './file-system.ts'
import type { Database, OpenDatabase } from './index/driver.ts'

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
 * reading a memory does not rewrite it, and apart from the index, which may be deleted at any time.
 */
export function createAccessLog(fileSystem: FileSystem, openDatabase: OpenDatabase, folder: string) {
  const path = join(folder, 'access.db')
  let database: Database | undefined
  let readOnly = false

  const open = (create: boolean): Database | undefined => {
    if (database || readOnly || (!create && !fileSystem.existsSync(path))) return database
    try {
      ensureFolder(fileSystem, folder)
      database = openDatabase(path)
      database.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      database.exec(schema)
    } catch (error) {
      // A memory that cannot be written can still be read; its reads are just not counted.
      const code = (error as { errcode?: number }).errcode ?? 0
      if (!['EACCES', 'EROFS', 'EPERM'].includes(errorCode(error) ?? '') && ![8, 14].includes(code & 0xff))
        throw error
      readOnly = true
      database = undefined
    }
    return database
  }

  const row = (address: Address) =>
    open(false)
      ?.prepare(
        'SELECT created, updated, at, count, expires FROM access WHERE scope = ? AND namespace = ? AND key = ?',
      )
      .get(address.scope, address.namespace, address.key) as (Access & Version) | undefined

  return {
    read(address: Address, { created, updated }: Version): Access | null {
      const known = row(address)
      if (!known || known.created !== created) return null
      const { at, count, expires } = known
      return { at, count, expires: known.updated === updated ? expires : null }
    },

    /** Expiry that reads have put off, for this version of an entry. */
    slidExpiry(scope: string, namespace: string, key: string, updated: number): number | null {
      const known = row({ scope, namespace, key } as Address)
      return known?.updated === updated ? known.expires : null
    },

    /** Counts one access for each entry. */
    record(
      accesses: readonly { address: Address; version: Version; expires: number | null }[],
      at: number,
    ): void {
      const target = open(true)
      if (!target) return
      const statement = target.prepare(
        `INSERT INTO access (scope, namespace, key, created, updated, at, count, expires) VALUES (?, ?, ?, ?, ?, ?, 1, ?)
         ON CONFLICT DO UPDATE SET at = excluded.at, expires = excluded.expires, updated = excluded.updated,
           count = CASE WHEN created = excluded.created THEN count + 1 ELSE 1 END, created = excluded.created`,
      )
      target.exec('BEGIN IMMEDIATE')
      try {
        for (const { address, version, expires } of accesses) {
          statement.run(
            address.scope,
            address.namespace,
            address.key,
            version.created,
            version.updated,
            at,
            expires,
          )
        }
        target.exec('COMMIT')
      } catch (error) {
        target.exec('ROLLBACK')
        throw error
      }
    },

    /** Accesses of a scope, by key. */
    all(scope: string, namespace: string): Map<string, { at: number; count: number }> {
      const rows = open(false)
        ?.prepare('SELECT key, at, count FROM access WHERE scope = ? AND namespace = ?')
        .all(scope, namespace)
      return new Map(
        ((rows ?? []) as { key: string; at: number; count: number }[]).map((row) => [row.key, row]),
      )
    },

    forget(address: Address): void {
      open(false)
        ?.prepare('DELETE FROM access WHERE scope = ? AND namespace = ? AND key = ?')
        .run(address.scope, address.namespace, address.key)
    },

    close(): void {
      database?.close()
      database = undefined
    },
  }
}
