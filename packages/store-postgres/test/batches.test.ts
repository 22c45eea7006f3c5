import {
  type Change,
  createMemoryManager,
  type Entry,
  MemoryErrorCode,
  type MemoryScope,
  type WriteOptions,
} from '@recall/core'
import { type Query, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../src/engines/database.ts'
import { sweepAll } from '../src/entries/sweep-all.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { units } from '../src/schema/entries.ts'
import { type Engine, emptyTables, engines, explained, plainEntry, sessionOf } from './support/engines.ts'

describe.each(engines)('many changes at once on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(() => emptyTables(engine.database))

  const openMemory = () => createMemoryManager({ stores: createPostgresStore(engine.database) })

  it('take few statements', async () => {
    const memory = openMemory()
    const writes = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, value: { n: i } }))
    const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
    await memory.batchWrite('long-term', writes)
    expect(statements.mock.calls.length).toBeGreaterThan(0)
    expect(statements.mock.calls.length).toBeLessThan(10)
    statements.mockRestore()
    const read = await memory.batchRead(
      'long-term',
      writes.map(({ key }) => key),
    )
    expect([...read]).toEqual(writes.map(({ key, value }) => [key, value]))
  })

  it('are sent in parts where their values are large', async () => {
    const memory = openMemory()
    const value = 'x'.repeat(1_500_000)
    const keys = ['a', 'b', 'c', 'd', 'e']
    const writes = keys.map((key) => ({ key, value, options: { index: false } }))
    const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
    await memory.batchWrite('long-term', writes)
    const longest = statements.mock.calls.map(([query]) =>
      Math.max(0, ...(query as Query).params.map((param) => String(param).length)),
    )
    statements.mockRestore()
    expect(Math.max(...longest)).toBeGreaterThan(value.length)
    expect(Math.max(...longest)).toBeLessThan(3 * value.length)
    expect((await memory.batchRead('long-term', keys)).size).toBe(keys.length)
  })

  it('are read together', async () => {
    const memory = openMemory()
    const keys = Array.from({ length: 64 }, (_, i) => `k${i}`)
    await memory.batchWrite(
      'long-term',
      keys.map((key) => ({ key, value: key })),
    )
    const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
    const read = await memory.batchRead('long-term', ['absent', ...keys.slice(1)])
    // What was read, and that it was.
    expect(statements).toHaveBeenCalledTimes(2)
    statements.mockRestore()
    expect([...read.keys()]).toEqual(keys.slice(1))
  })

  describe('are locked once', () => {
    /** Clears working memory, and tells how the statement that does so locks its entries when it is full again. */
    const lockingOf = async (clear: () => Promise<unknown>, fill: () => Promise<void>): Promise<string[]> => {
      await fill()
      const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
      await clear()
      const locking = statements.mock.calls
        .map(([query]) => query as Query)
        .find((each) => each.sql.includes('for update'))
      statements.mockRestore()
      await fill()
      const plan = await explained(engine.database, locking as Query)
      return plan.filter((line) => line.includes('LockRows'))
    }
    const once = [expect.stringMatching(/rows=500(?:\.00)? loops=1\)/)]
    const place = { namespace: 'default', scope: 'working' } as const
    const store = () => createPostgresStore(engine.database)
    const write = (scope: MemoryScope, options: WriteOptions) =>
      createMemoryManager({ stores: store(), clock: () => 0 }).batchWrite(
        scope,
        Array.from({ length: 500 }, (_, i) => ({ key: `k${i}`, value: i, options })),
      )
    const calls: [name: string, call: () => Promise<unknown>][] = [
      ['sweep', () => store().sweep({ ...place, now: 11, dryRun: false })],
      ['sweepAll', () => sweepAll(engine.database, 11)],
      ['removeAll', () => store().removeAll(place)],
      ['archive', () => store().cold.archive({ ...place, before: 5, now: 5, dryRun: false })],
    ]

    it.each(calls)('by %s, also where the planner thinks that the place is empty', async (_name, call) => {
      await write('long-term', { index: false })
      await engine.database.execute(sql`analyze entries`)
      expect(await lockingOf(call, () => write('working', { ttl: 10, index: false }))).toEqual(once)
    })

    it.each(calls)('by %s, also where the planner thinks that there are none at all', async (_name, call) => {
      const fill = async (): Promise<void> => {
        await write('working', { ttl: 10, index: false })
        // What is known after statistics are taken while all that there is has not been committed yet.
        await engine.database.execute(sql`analyze entries`)
        await engine.database.execute(sql`delete from pg_statistic where starelid = 'entries'::regclass`)
        await engine.database.execute(
          sql`update pg_class set reltuples = 0 where relname in ('entries', 'entries_place_id_pk')`,
        )
      }
      expect(await lockingOf(call, fill)).toEqual(once)
    })
  })

  it('take few statements where each expects what was seen', async () => {
    const store = createPostgresStore(engine.database)
    const seen = Array.from({ length: 1000 }, (_, i) => plainEntry(`k${i}`, { value: i }))
    const options = { overwrite: true, now: 1 }
    await store.commit(seen.map((put) => ({ put, options })))
    const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
    await store.commit(
      seen.map((entry, i) => ({
        put: { ...entry, value: -i, updatedAt: 2 },
        options,
        expected: { updatedAt: 1, value: i },
      })),
    )
    expect(statements.mock.calls.length).toBeGreaterThan(0)
    expect(statements.mock.calls.length).toBeLessThan(10)
    statements.mockRestore()
    expect(await store.get(plainEntry('k700'), 1)).toMatchObject({ value: -700, updatedAt: 2 })
  })

  it.each(['sweep', 'removeAll'] as const)('%s in steps, so that no statement takes long', async (call) => {
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database), clock: () => 0 })
    const options = { ttl: 10, index: false }
    await memory.batchWrite(
      'working',
      Array.from({ length: 5001 }, (_, i) => ({ key: `k${i}`, value: i, options })),
    )
    const steps = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
    const store = createPostgresStore(engine.database)
    const place = { namespace: 'default', scope: 'working' } as const
    expect(await store[call]({ ...place, now: 11, dryRun: false })).toBe(5001)
    const deletes = steps.mock.calls.filter(([query]) =>
      (query as Query).sql.includes('delete from "entries"'),
    )
    expect(deletes).toHaveLength(2)
    steps.mockRestore()
    expect(await store.stats(place)).toEqual({ entries: 0, bytes: 0 })
  })

  it('archive as many as are asked for, what was written first before the others', async () => {
    const store = createPostgresStore(engine.database)
    // The order of their keys is another one.
    const written = Array.from({ length: 1200 }, (_, i) => plainEntry(`k${(i * 7) % 1200}`, { updatedAt: i }))
    await store.commit(written.map((put) => ({ put, options: { overwrite: true, now: 1 } })))
    const { namespace, scope } = plainEntry('')
    const archive = { namespace, scope, before: 1200, now: 1200, dryRun: false, limit: 501 }
    expect(await store.cold.archive(archive)).toEqual({ archived: 501, errors: [] })
    const oldest = {
      sortBy: 'recency',
      sortOrder: 'asc',
      minScore: 0,
      limit: 1,
      offset: 0,
      now: 1200,
    } as const
    const [left] = await store.find({ namespace, scope, ...oldest })
    expect(left?.entry.updatedAt).toBe(501)
    expect(await store.stats({ namespace, scope })).toMatchObject({ entries: 699 })
  })

  it('name the key that exists already, and change nothing', async () => {
    const memory = openMemory()
    await memory.write('long-term', 'k700', 'there')
    const options = { overwrite: false }
    const writes = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, value: i, options }))
    await expect(memory.batchWrite('long-term', writes)).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
      key: 'k700',
    })
    expect(await memory.search('long-term', {})).toHaveLength(1)
  })

  it('shorten and lengthen texts, each its own', async () => {
    const memory = openMemory()
    const long = (word: string): string => Array.from({ length: 4 }, () => word.repeat(800)).join('\n\n')
    const write = (values: string[]) =>
      memory.batchWrite(
        'long-term',
        values.map((value, i) => ({ key: `k${i}`, value })),
      )
    await write([long('lighthouse '), 'a harbour'])
    await write(['a pier', long('harbour ')])
    const found = async (text: string) => (await memory.search('long-term', { text })).map(({ key }) => key)
    expect(await found('lighthouse')).toEqual([])
    expect(await found('pier')).toEqual(['k0'])
    expect(await found('harbour')).toEqual(['k1'])
    const [kept] = await rowsOf<{ counted: number }>(
      engine.database,
      sql`select sum(unit_count)::int as counted from entries`,
    )
    expect(await engine.database.$count(units)).toBe(kept?.counted)
  })

  it('make room at a quota in few statements', async () => {
    const { database } = engine
    const values = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, value: `entry ${i}`.padEnd(100) }))
    await openMemory().batchWrite('short-term', values)
    const quotas = { 'short-term': 60_000 }
    const full = createMemoryManager({ stores: createPostgresStore(database), policies: { quotas } })
    const statements = vi.spyOn(sessionOf(database), 'prepareQuery')
    // What is replaced frees as much as is needed: its sizes are read, many together.
    await full.batchWrite('short-term', values.slice(0, 500))
    expect(statements.mock.calls.length).toBeLessThan(25)
    statements.mockClear()
    const others = values.slice(0, 500).map(({ key, value }) => ({ key: `new ${key}`, value }))
    await full.batchWrite('short-term', others)
    expect(statements.mock.calls.length).toBeLessThan(50)
    statements.mockRestore()
    const left = await full.search('short-term', {}, { limit: 1000 })
    expect(left.filter(({ key }) => key.startsWith('new'))).toHaveLength(500)
    expect(left.length).toBeLessThan(600)
  })

  it('remove only what is as it was seen, or nothing', async () => {
    const store = createPostgresStore(engine.database)
    const seen = Array.from({ length: 3 }, (_, i) => plainEntry(`k${i}`, { value: i }))
    await store.commit(seen.map((put) => ({ put, options: { overwrite: true, now: 1 } })))
    const removals = (values: number[]): Change[] =>
      seen.map(({ namespace, scope, key, updatedAt }, i) => ({
        remove: { namespace, scope, key },
        expected: { updatedAt, value: values[i] as number },
      }))
    await expect(store.commit(removals([0, 7, 2]))).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
      key: 'k1',
    })
    expect(await store.stats(plainEntry(''))).toMatchObject({ entries: 3 })
    await store.commit(removals([0, 1, 2]))
    expect(await store.stats(plainEntry(''))).toMatchObject({ entries: 0 })
  })

  it('find their order by one digest of each key', async () => {
    const store = createPostgresStore(engine.database)
    const readsOfKeys = async (count: number): Promise<number> => {
      let reads = 0
      const changes = Array.from({ length: count }, (_, i): Change => {
        const put = plainEntry('')
        Object.defineProperty(put, 'key', {
          get() {
            reads++
            return `k${i}`
          },
        })
        return { put, options: { overwrite: true, now: 1 } }
      })
      await store.commit(changes)
      return reads / count
    }
    expect(await readsOfKeys(400)).toBeLessThan(1.2 * (await readsOfKeys(50)))
  })

  it('go each to its own place', async () => {
    const store = createPostgresStore(engine.database)
    const places: Partial<Entry>[] = [{}, { scope: 'long-term' }, { namespace: 'other' }]
    const made = Array.from({ length: 30 }, (_, i) => plainEntry(`k${i}`, { ...places[i % 3], value: i }))
    const read = () => Promise.all(made.map((each) => store.get(each, 1)))
    await store.commit(made.map((put) => ({ put, options: { overwrite: true, now: 1 } })))
    expect(await read()).toEqual(made)
    await store.commit(made.map(({ namespace, scope, key }) => ({ remove: { namespace, scope, key } })))
    expect(await read()).toEqual(made.map(() => null))
  })

  it('are made each in its own manner, whichever stands beside it', async () => {
    const store = createPostgresStore(engine.database)
    const keys = Array.from({ length: 12 }, (_, i) => `k${i}`)
    const put = (key: string, overwrite: boolean): Change => ({
      put: plainEntry(key, { value: 'new' }),
      options: { overwrite, now: 1 },
    })
    await store.commit(keys.map((key) => put(key, true)))
    for (const kept of keys) {
      const changes = keys.map((key) => put(key, key !== kept))
      await expect(store.commit(changes)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT, key: kept })
    }
    await store.commit([put('absent', false), ...keys.map((key) => put(key, true))])
    // What was seen has been compared, and keeps the times that it brings.
    const seen = { expected: { updatedAt: 2 } }
    await store.commit(keys.map((key, i) => ({ ...put(key, true), ...(i % 2 ? seen : {}) })))
    const written = await Promise.all(keys.map((key) => store.get(plainEntry(key), 1)))
    expect(written.map((entry) => entry?.updatedAt)).toEqual(keys.map((_, i) => (i % 2 ? 1 : 3)))
  })

  it('may write a key twice: the last one stays', async () => {
    const store = createPostgresStore(engine.database)
    const put = (key: string, value: string): Change => ({
      put: plainEntry(key, { value }),
      options: { overwrite: true, now: 1 },
    })
    await store.commit([put('key', 'first'), put('key', 'second'), put('other', '')])
    expect(await store.get(plainEntry('key'), 1)).toMatchObject({ value: 'second' })
    expect(await store.stats(plainEntry('key'))).toMatchObject({ entries: 2 })
  })
})
