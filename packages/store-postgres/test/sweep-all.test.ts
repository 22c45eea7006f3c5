import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../src/engines/database.ts'
import { sweepAll } from '../src/entries/sweep-all.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, plainEntry } from './support/engines.ts'

describe.each(engines)('a sweep of all places on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
    await emptyTables(engine.database)
  })
  afterAll(() => engine.close())

  it('removes what has expired, and nothing else, however many there are', async () => {
    const { database } = engine
    for (const tenant of ['ada', 'bob']) {
      const store = createPostgresStore(database, { tenant })
      for (const shelf of [store, store.cold])
        for (const [key, expiresAt] of [
          ['gone', 10],
          ['stays', 11],
          ['for ever', null],
        ] as const)
          await shelf.put({ ...plainEntry(key), expiresAt }, { overwrite: true, now: 1 })
    }
    await database.execute(sql`
      insert into entries (place, id, tenant, namespace, scope, key, value, fields, text, word_count, tags, created_at,
        updated_at, accessed_at, access_count, expires_at, encrypted)
      select md5((i % 7)::text)::uuid, md5(i::text)::uuid, '', 'n', 'working', i::text, '1', '{}', '', 0, '{}', 1, 1, 1,
        0, i, false
      from generate_series(1, 21000) as i`)
    expect(await sweepAll(database, 10)).toBe(4 + 10)
    expect(await sweepAll(database, 10)).toBe(0)
    expect(await sweepAll(database, 20_999)).toBe(4 + 20_989)
    const left = await rowsOf<{ key: string }>(database, sql`select key from entries order by key`)
    expect(left.map(({ key }) => key)).toEqual([...Array(4).fill('for ever'), '21000'].sort())
    const sizes = await rowsOf<{ entries: number }>(
      database,
      sql`select sum(entries)::int as entries from place_sizes`,
    )
    expect(sizes).toEqual([{ entries: 5 }])
  })

  it('merges what ended backends counted of all places, and forgets places in which nothing is left', async () => {
    const { database } = engine
    await emptyTables(database)
    const place = { namespace: 'default', scope: 'working' } as const
    const stores = ['ada', 'bob'].map((tenant) => createPostgresStore(database, { tenant }))
    for (const key of ['a', 'b', 'c']) {
      for (const store of stores) await store.put(plainEntry(key), { overwrite: true, now: 1 })
      await database.execute(
        sql`update place_sizes set backend = -${sql.raw(String(key.charCodeAt(0)))} where backend > 0`,
      )
    }
    for (const key of ['a', 'b', 'c']) await stores[1]?.remove({ ...place, key })
    await database.execute(sql`update place_sizes set backend = -7 where backend > 0`)
    const counted = await stores[0]?.stats(place)
    expect(counted?.entries).toBe(3)
    expect(await database.$count(sql`place_sizes`)).toBe(7)
    await sweepAll(database, 1)
    expect(await database.$count(sql`place_sizes`)).toBe(1)
    expect(await stores[0]?.stats(place)).toEqual(counted)
    expect(await stores[1]?.stats(place)).toEqual({ entries: 0, bytes: 0 })
  })
})
