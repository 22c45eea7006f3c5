import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMemoryManager, wordsOf } from '@recall/core'
import { sql } from 'drizzle-orm'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator'
import { describe, expect, it, onTestFinished } from 'vitest'
import { entryId, placeId } from '../src/address.ts'
import { type Database, rowsOf } from '../src/database.ts'
import { openPostgres } from '../src/postgres.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { createServerDatabase, serverUrl } from './support.ts'

const migrations = fileURLToPath(new URL('../migrations', import.meta.url))
const journal = JSON.parse(readFileSync(join(migrations, 'meta/_journal.json'), 'utf8')) as {
  entries: { tag: string }[]
}
/** Before tenants, places had other names; no version that anybody could install wrote such rows. */
const first = journal.entries.findIndex(({ tag }) => tag.includes('tenants')) + 1
const steps = journal.entries.map((_, i) => i + 1).filter((step) => step >= first)

async function emptyDatabase(): Promise<{ url: string; database: Database }> {
  const { url, drop } = await createServerDatabase()
  const { database, close } = await openPostgres({ url, migrations: false })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  return { url, database }
}

/** Brings a database to what the first migrations made of it. */
async function migrateTo(database: Database, step: number): Promise<void> {
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

const textOf = (step: number): string => `The lighthouse number${step} stands at the harbour.`

/** What was written when the schema was that of a step: the columns that every version has had. */
async function writeAt(database: Database, step: number): Promise<void> {
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

/** What each step's writer finds in the newest schema. */
async function expectAll(url: string, written: readonly number[]): Promise<void> {
  const { database, close } = await openPostgres({ url })
  const memory = createMemoryManager({ stores: createPostgresStore(database) })
  for (const step of written) {
    const key = `note-${step}`
    const metadata = { createdAt: 1000, updatedAt: 2000, tags: ['harbour'] }
    expect(await memory.read('long-term', key, { includeMetadata: true })).toMatchObject({
      value: textOf(step),
      metadata,
    })
    const found = await memory.search('long-term', { text: `number${step}` })
    expect(found.map((match) => match.key)[0]).toBe(key)
  }
  const contents = await rowsOf<{ content: string }>(database, sql`select content from memories`)
  expect(contents.map(({ content }) => content).sort()).toEqual(written.map(textOf).sort())
  await memory.write('long-term', 'new', 'written now')
  expect(await memory.read('long-term', 'new')).toBe('written now')
  const applied = await rowsOf<{ hash: string }>(database, sql`select hash from drizzle.__drizzle_migrations`)
  expect(applied).toHaveLength(journal.entries.length)
  await close()
}

// support.ts says when there is no server.
describe.skipIf(!serverUrl)('what earlier versions wrote', () => {
  it('survives every migration, written before each of them', async () => {
    const { url, database } = await emptyDatabase()
    for (const step of steps) {
      await migrateTo(database, step)
      if (step < journal.entries.length) await writeAt(database, step)
    }
    await expectAll(url, steps.slice(0, -1))
  })

  it.each(steps.slice(0, -1))('opens in this version from migration %i on', async (step) => {
    const { url, database } = await emptyDatabase()
    await migrateTo(database, step)
    await writeAt(database, step)
    await expectAll(url, [step])
  })

  it('is whole when a migration breaks off, and the next one goes through', async () => {
    const { url, database } = await emptyDatabase()
    await migrateTo(database, first)
    await writeAt(database, first)
    const blocker = await openPostgres({ url, migrations: false, connections: 1 })
    await blocker.database.execute(sql`begin`)
    await blocker.database.execute(sql`lock table entries in access share mode`)
    const migrating = openPostgres({ url }).catch((error: unknown) => error)
    // It waits for the table that somebody reads, half-way through; then it is stopped.
    const waiting = sql`select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    while ((await rowsOf(database, waiting)).length === 0);
    expect(await migrating).toMatchObject({ code: expect.stringMatching(/^MEMORY_/) })
    await blocker.close()
    await expectAll(url, [first])
  })

  it('is migrated once by processes that start together', async () => {
    const { url, database } = await emptyDatabase()
    await migrateTo(database, first)
    await writeAt(database, first)
    const together = await Promise.all(Array.from({ length: 4 }, () => openPostgres({ url })))
    for (const { close } of together) await close()
    await expectAll(url, [first])
  })
})
