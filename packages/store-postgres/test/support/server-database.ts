import { sql } from 'drizzle-orm'
import { type OpenDatabase, openPostgres } from '../../src/postgres.ts'

/** Where a Postgres server with pgvector may be used, if there is one. */
export const serverUrl = process.env.RECALL_TEST_POSTGRES_URL

if (!serverUrl) {
  process.stderr.write('tests on a Postgres server are skipped: RECALL_TEST_POSTGRES_URL is not set\n')
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

/** A database on the server with empty tables; closing drops it. */
export async function openServerDatabase(): Promise<OpenDatabase & { url: string }> {
  const { url, drop } = await createServerDatabase()
  const { close, ...open } = await openPostgres({ url })
  return {
    ...open,
    url,
    async close() {
      await close()
      await drop()
    },
  }
}
