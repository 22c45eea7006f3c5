import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator'
import { createExtensions } from './engines/create-extensions.ts'
import { type Database, rowsOf } from './engines/database.ts'
import { asMemoryErrors, codeOf } from './engines/postgres-errors.ts'

const migrationsFolder = fileURLToPath(new URL('../migrations', import.meta.url))

/** Key of the advisory lock for changes of tables; any number not used otherwise. */
const migrationLock = 7_351_283

/** How long to wait for another process that is migrating, and for tables, in milliseconds. */
const patience = 60_000

/** How long to wait for tables at a time: readers of the tables have to wait meanwhile, too. */
const tablePatience = 1000

/**
 * Brings the tables up to date; there is no way back. Processes that start together take turns, and all except the
 * first find nothing to do.
 *
 * @param database on a single connection, which holds the lock
 * @throws MemoryError TIMEOUT when others, such as a migrating process, do not finish within a minute; NOT_SUPPORTED
 * when this server cannot hold the tables
 */
export const migrate = (database: Database): Promise<void> => migrateFrom(migrationsFolder, database)

/** Does what `migrate` does, with the migrations of a folder. */
export const migrateFrom = (folder: string, database: Database): Promise<void> =>
  asMemoryErrors(MemoryErrorCode.UNAVAILABLE, () =>
    underMigrationLock(database, async () => {
      if ((await pendingIn(folder, database)) > 0) await createExtensions(database)
      // The migrator works with every driver; only its type names one.
      await whenTablesAreFree(database, () =>
        runMigrations(database as unknown as PostgresJsDatabase, { migrationsFolder: folder }),
      )
    }),
  )

/** How many migrations `migrate` would run. Changes nothing. */
export const pendingMigrations = (database: Database): Promise<number> =>
  pendingIn(migrationsFolder, database)

async function pendingIn(folder: string, database: Database): Promise<number> {
  const all = readMigrationFiles({ migrationsFolder: folder })
  return asMemoryErrors(MemoryErrorCode.UNAVAILABLE, async () => {
    const [known] = await rowsOf<{ any: boolean }>(
      database,
      sql`select to_regclass('drizzle.__drizzle_migrations') is not null as any`,
    )
    if (!known?.any) return all.length
    const [last] = await rowsOf<{ at: string | null }>(
      database,
      sql`select max(created_at)::text as at from drizzle.__drizzle_migrations`,
    )
    return all.filter(({ folderMillis }) => folderMillis > Number(last?.at ?? 0)).length
  })
}

/** Runs a change while no other process changes tables. */
async function underMigrationLock<T>(database: Database, change: () => Promise<T>): Promise<T> {
  await setLockTimeout(database, patience)
  await database.execute(sql`select pg_advisory_lock(${migrationLock})`)
  try {
    return await change()
  } finally {
    await database.execute(sql`select pg_advisory_unlock(${migrationLock})`)
    await database.execute(sql`reset lock_timeout`)
  }
}

const setLockTimeout = (database: Database, milliseconds: number): Promise<unknown> =>
  database.execute(sql`select set_config('lock_timeout', ${String(milliseconds)}, false)`)

const lockNotAvailable = '55P03'

/** Runs a change of tables, retrying while others hold one of them, as a backup does for its whole duration. */
async function whenTablesAreFree(database: Database, change: () => Promise<void>): Promise<void> {
  await setLockTimeout(database, tablePatience)
  const deadline = Date.now() + patience
  for (;;) {
    try {
      return await change()
    } catch (error) {
      if (codeOf(error) !== lockNotAvailable || Date.now() > deadline) throw error
    }
    await pause(tablePatience)
  }
}
