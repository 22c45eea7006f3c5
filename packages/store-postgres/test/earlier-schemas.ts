import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wordsOf } from '@recall/core/ranking'
import { sql } from 'drizzle-orm'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator'
import { type Database, rowsOf } from '../src/engines/database.ts'
import { entryId, placeId } from '../src/entries/address.ts'

const migrations = fileURLToPath(new URL('../migrations', import.meta.url))
const journal = JSON.parse(readFileSync(join(migrations, 'meta/_journal.json'), 'utf8')) as {
  entries: { tag: string }[]
}
/** Before tenants, places had other names; no version that anybody could install wrote such rows. */
const first = journal.entries.findIndex(({ tag }) => tag.includes('tenants')) + 1
/** Migrations after which data may have been written, counted from 1. */
export const steps = journal.entries.map((_, i) => i + 1).filter((step) => step >= first)
export const lastStep = journal.entries.length
/** How many migrations run before the one of this name. */
export const stepBefore = (name: string): number => journal.entries.findIndex(({ tag }) => tag.endsWith(name))

/** Brings a database to what the first migrations made of it. */
export async function migrateTo(database: Database, step: number): Promise<void> {
  const folder = mkdtempSync(join(migrations, '..', 'node_modules', '.old-migrations-'))
  try {
    mkdirSync(join(folder, 'meta'))
    const kept = journal.entries.slice(0, step)
    writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify({ ...journal, entries: kept }))
    for (const { tag } of kept)
      writeFileSync(join(folder, `${tag}.sql`), readFileSync(join(migrations, `${tag}.sql`)))
    await runMigrations(database as unknown as PostgresJsDatabase, { migrationsFolder: folder })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const textOf = (step: number): string => `The lighthouse number${step} stands at the harbour.`

/** What was written when the schema was that of a step: the columns that every version has had. */
export async function writeAt(database: Database, step: number): Promise<void> {
  const address = { namespace: 'default', scope: 'long-term', key: `note-${step}` } as const
  const text = textOf(step)
  const terms = [...new Set(wordsOf(text).map(({ term }) => term))]
  const words = terms.map((term) => `'${term}':1`).join(' ')
  const [known] = await rowsOf<{ words: boolean }>(
    database,
    sql`select exists (select from information_schema.columns where table_name = 'entries' and column_name = 'words') as words`,
  )
  // Words moved from entries to their units.
  const ownWords = known?.words
    ? { names: sql`, words, word_count`, values: sql`, ${words}::tsvector, ${terms.length}` }
    : { names: sql`, word_count`, values: sql`, ${terms.length}` }
  await database.execute(sql`
    insert into entries (place, id, namespace, scope, key, value, fields, text, tags, created_at, updated_at,
      accessed_at, access_count, encrypted ${ownWords.names})
    values (${placeId(address, { tenant: '', archived: false })}, ${entryId(address)}, 'default', 'long-term',
      ${address.key}, ${JSON.stringify(text)}, ${JSON.stringify(text)}::jsonb, ${text}, '{harbour}', 1000, 2000, 3000, 4,
      false ${ownWords.values})`)
  if (step > journal.entries.findIndex(({ tag }) => tag.includes('units_of_entries'))) {
    await database.execute(sql`
      insert into units (place, entry, unit, words, word_count, label)
      select place, id, 0, ${words}::tsvector, ${terms.length}, '' from entries where key = ${address.key}`)
  }
  await database.execute(sql`
    with author as (insert into agents (name, api_key_hash) values (${`agent-${step}`}, ${`hash-${step}`}) returning id)
    insert into memories (short_id, agent_id, content, tags, embedding_model)
    select ${`RCL-${step}`}, id, ${text}, '{harbour}', 'none' from author`)
}
