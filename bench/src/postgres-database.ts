import { type OpenDatabase, openPostgres } from '@recall/store-postgres/postgres'
import postgres from 'postgres'

/** Runs with an empty, migrated database on a server, and drops it afterwards. */
export async function withDatabase<T>(
  server: string,
  run: (opened: OpenDatabase & { url: string }) => Promise<T>,
  connections = 10,
): Promise<T> {
  const name = `bench_${process.pid}_${Date.now()}`
  const admin = postgres(server, { max: 1, onnotice: () => {} })
  try {
    await admin.unsafe(`create database ${name}`)
    const url = new URL(server)
    url.pathname = name
    const opened = await openPostgres({ url: url.href, connections })
    try {
      return await run({ ...opened, url: url.href })
    } finally {
      await opened.close()
      await admin.unsafe(`drop database ${name} with (force)`)
    }
  } finally {
    await admin.end()
  }
}
