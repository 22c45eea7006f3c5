import { sql } from 'drizzle-orm'
import type { Database } from '../src/database.ts'
import { type EmbeddedDatabase, openPglite } from '../src/pglite.ts'
import { type OpenDatabase, openPostgres } from '../src/postgres.ts'

/** Where a Postgres server with pgvector may be used, if there is one. */
export const serverUrl = process.env.RECALL_TEST_POSTGRES_URL

if (!serverUrl) {
  process.stderr.write('tests on a Postgres server are skipped: RECALL_TEST_POSTGRES_URL is not set\n')
}

export type Engine = EmbeddedDatabase | OpenDatabase

/** A database of its own for one test file, embedded or on the server. */
export const openEngine = { embedded: (): Promise<Engine> => openPglite(), server: openServerDatabase }

async function openServerDatabase(): Promise<Engine> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`
  const admin = await openPostgres({ url: serverUrl ?? '', migrations: false, connections: 1 })
  await admin.database.execute(sql.raw(`create database ${name}`))
  const url = new URL(serverUrl ?? '')
  url.pathname = name
  const opened = await openPostgres({ url: url.href })
  return {
    database: opened.database,
    async close() {
      await opened.close()
      await admin.database.execute(sql.raw(`drop database ${name}`))
      await admin.close()
    },
  }
}

/** The engines that tests run on here. */
export const engines: [name: string, open: () => Promise<Engine>][] = [
  ['pglite', openEngine.embedded],
  ...(serverUrl ? [['postgres', openEngine.server] as [string, () => Promise<Engine>]] : []),
]

export async function emptyTables(database: Database): Promise<void> {
  await database.execute(sql`truncate entries, place_sizes`)
}
