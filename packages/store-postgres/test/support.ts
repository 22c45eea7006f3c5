import { sql } from 'drizzle-orm'
import type { Database } from '../src/database.ts'
import { type EmbeddedDatabase, openPglite } from '../src/pglite.ts'
import type { OpenDatabase } from '../src/postgres.ts'
import { openServerDatabase, serverUrl } from './server-database.ts'
import { template } from './template.ts'

export type Engine = EmbeddedDatabase | OpenDatabase

const openEmbedded = async (): Promise<Engine> => openPglite({ template: await template() })

/** The engines that tests run on here. */
export const engines: [name: string, open: () => Promise<Engine>][] = [
  ['pglite', openEmbedded],
  ...(serverUrl ? [['postgres', openServerDatabase] as [string, () => Promise<Engine>]] : []),
]

export async function emptyTables(database: Database): Promise<void> {
  await database.execute(sql`truncate entries, units, place_sizes`)
}
