import { sql } from 'drizzle-orm'
import type { Database } from '../src/database.ts'
import { type EmbeddedDatabase, openPglite } from '../src/pglite.ts'
import { type OpenDatabase, openPostgres } from '../src/postgres.ts'
import { template } from './template.ts'

/** Where a Postgres server with pgvector may be used, if there is one. */
export const serverUrl = process.env.RECALL_TEST_POSTGRES_URL

if (!serverUrl) {
  process.stderr.write('tests on a Postgres server are skipped: RECALL_TEST_POSTGRES_URL is not set\n')
}

export type Engine = EmbeddedDatabase | OpenDatabase

const openEmbedded = async (): Promise<Engine> => openPglite({ template: await template() })

async function openServerDatabase(): Promise<Engine> {
  const { url, drop } = await createServerDatabase()
  const { database, close } = await openPostgres({ url })
  return {
    database,
    async close() {
      await close()
      await drop()
    },
  }
}

/** An empty database on the server. */
export async function createServerDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`
  // Dropping a database waits for a checkpoint.
  const admin = await openPostgres({
    url: serverUrl ?? '',
    migrations: false,
    connections: 1,
    timeoutMs: 120_000,
  })
  await admin.database.execute(sql.raw(`create database ${name}`))
  const url = new URL(serverUrl ?? '')
  url.pathname = name
  return {
    url: url.href,
    async drop() {
      await admin.database.execute(sql.raw(`drop database ${name} with (force)`))
      await admin.close()
    },
  }
}

/** The engines that tests run on here. */
export const engines: [name: string, open: () => Promise<Engine>][] = [
  ['pglite', openEmbedded],
  ...(serverUrl ? [['postgres', openServerDatabase] as [string, () => Promise<Engine>]] : []),
]

export async function emptyTables(database: Database): Promise<void> {
  await database.execute(sql`truncate entries, units, place_sizes`)
}
