import { createMemoryManager } from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { units } from '../src/schema/entries.ts'
import { type Engine, emptyTables, engines, plainEntry } from './support/engines.ts'

describe.each(engines)('units that a writer at the same moment left, on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
    await emptyTables(engine.database)
  })
  afterAll(() => engine.close())

  it('are neither read, nor found, nor archived', async () => {
    const { database } = engine
    const store = createPostgresStore(database)
    const memory = createMemoryManager({ stores: store, clock: () => 1 })
    const entry = plainEntry('key', {
      value: 'door',
      text: 'door',
      embedding: { model: 'two', vector: [1, 0] },
    })
    const { namespace, scope } = entry
    const found = async (text: string) =>
      (await memory.search(scope, { text }, { touch: false })).map(({ key }) => key)
    await store.put(entry, { overwrite: true, now: 1 })
    await database.execute(sql`
      insert into units (place, entry, unit, words, word_count, label, embedding)
      select place, entry, 1, 'zeppelin:1', 1, '', '[0, 1]' from units`)
    expect(await store.get(entry, 1)).toEqual(entry)
    expect([await found('door'), await found('zeppelin')]).toEqual([['key'], []])
    const old = { namespace, scope, before: 2, now: 1, dryRun: false }
    expect(await store.cold.archive(old)).toMatchObject({ archived: 1 })
    expect(await database.$count(units)).toBe(1)
    expect(await store.cold.get(entry, 1)).toEqual(entry)
  })
})
