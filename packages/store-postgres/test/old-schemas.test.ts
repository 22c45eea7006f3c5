import { createMemoryManager } from '@recall/core'
import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Database, rowsOf } from '../src/engines/database.ts'
import { openPostgres } from '../src/postgres.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { lastStep, migrateTo, stepBefore, steps, textOf, writeAt } from './earlier-schemas.ts'
import { createServerDatabase, serverUrl } from './server-database.ts'

async function emptyDatabase(): Promise<{ url: string; database: Database }> {
  const { url, drop } = await createServerDatabase()
  const { database, close } = await openPostgres({ url, migrations: false })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  return { url, database }
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
  const [sizes] = await rowsOf<{ counted: number; real: number }>(
    database,
    sql`select (select sum(held)::int from place_sizes) as counted,
      (select sum(held_bytes(key, value, text, type, tags, unit_count, dimensions))::int from entries) as real`,
  )
  expect(sizes?.counted).toBe(sizes?.real)
  await memory.write('long-term', 'new', 'written now')
  expect(await memory.read('long-term', 'new')).toBe('written now')
  const applied = await rowsOf<{ hash: string }>(database, sql`select hash from drizzle.__drizzle_migrations`)
  expect(applied).toHaveLength(lastStep)
  await close()
}

const [first = 1] = steps

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('what earlier versions wrote', () => {
  it('survives every migration, written before each of them', async () => {
    const { url, database } = await emptyDatabase()
    for (const step of steps) {
      await migrateTo(database, step)
      if (step < lastStep) await writeAt(database, step)
    }
    await expectAll(url, steps.slice(0, -1))
  })

  it.each(steps.slice(0, -1))('opens in this version from migration %i on', async (step) => {
    const { url, database } = await emptyDatabase()
    await migrateTo(database, step)
    await writeAt(database, step)
    await expectAll(url, [step])
  })

  it('finds a surrogate without its partner that was spelled as before', async () => {
    const { url, database } = await emptyDatabase()
    const step = stepBefore('order_of_lone_surrogates')
    await migrateTo(database, step)
    await writeAt(database, step)
    const value = { mark: '\ud800', other: '\ue000' }
    const fields = { mark: `\ue000\ue002${'\ue001'.repeat(11)}`, other: '\ue000\ue001\ue001\ue001' }
    await database.execute(
      sql`update entries set value = ${JSON.stringify(value)}, fields = ${JSON.stringify(fields)}::text::jsonb`,
    )
    const newest = await openPostgres({ url })
    const memory = createMemoryManager({ stores: createPostgresStore(newest.database) })
    const filters = [{ mark: '\ud800' }, { other: '\ue000' }, { mark: { lt: '\ue000', gt: '\ud7ff' } }]
    for (const filter of filters) {
      expect(await memory.search('long-term', { filters: filter })).toMatchObject([{ value }])
    }
    await newest.close()
  })

  it('finds words of a script without spaces in what was split before they were words', async () => {
    const { url, database } = await emptyDatabase()
    await migrateTo(database, lastStep)
    const memory = createMemoryManager({ stores: createPostgresStore(database) })
    const talk = {
      sessionId: 's',
      date: '2026-03-05T10:00:00Z',
      body: '### User\n\n我们换了数据库\n\n### Assistant\n\n好的',
    }
    await memory.write('long-term', 'note', '数据库连接池')
    await memory.write('episodic', 'talk', talk, { type: 'conversation' })
    await memory.write('long-term', 'other', 'Café')
    const words = sql`select entry, unit, words::text, units.word_count, entries.word_count as total, version
      from units join entries on entries.id = units.entry order by entry, unit`
    const asWritten = await rowsOf(database, words)
    await database.execute(sql`update units set words = ${"'nothing':1D"}::text::tsvector, word_count = 1`)
    await database.execute(sql`update entries set word_count = unit_count`)
    await database.execute(sql`update store_settings set words_version = 0`)
    const { close } = await openPostgres({ url })
    await close()
    expect(await rowsOf(database, words)).toEqual(asWritten)
    expect(await memory.search('long-term', { text: '数据库' })).toMatchObject([{ key: 'note' }])
    const [sizes] = await rowsOf(
      database,
      sql`select (select sum(words)::int from place_sizes) = (select sum(word_count)::int from entries) as same`,
    )
    expect(sizes).toEqual({ same: true })
    // Once is enough: the next opening looks at no text.
    await database.execute(sql`update units set words = ''`)
    await (await openPostgres({ url })).close()
    expect(await memory.search('long-term', { text: '数据库' })).toEqual([])
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

  it('can be read while a migration waits for a table that somebody reads for long', async () => {
    const { url, database } = await emptyDatabase()
    await migrateTo(database, first)
    await writeAt(database, first)
    let migrating: ReturnType<typeof openPostgres> | undefined
    await database.transaction(async (backup) => {
      await backup.execute(sql`select from entries`)
      migrating = openPostgres({ url })
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      while ((await rowsOf(database, waiting)).length === 0);
      expect(await rowsOf(database, sql`select from entries`)).toHaveLength(1)
    })
    await (await migrating)?.close()
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
