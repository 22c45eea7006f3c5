import { type Change, type Entry, MemoryErrorCode, type MemoryStore } from '@recall/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, plainEntry } from './support/engines.ts'

const place = { namespace: 'default', scope: 'working' } as const
const options = { overwrite: true, now: 1 }

/** Takes so many bytes, in its value unless something else is given. */
const entry = (key: string, bytes: number, other: Partial<Entry> = {}): Entry =>
  plainEntry(key, { value: 'v'.repeat(bytes - key.length - 2), ...other })

const beyond = { code: MemoryErrorCode.QUOTA_EXCEEDED }

describe.each(engines)('a quota on %s', (_, open) => {
  let engine: Engine
  let store: MemoryStore
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(async () => {
    await emptyTables(engine.database)
    store = createPostgresStore(engine.database, { quotas: { working: 1000 } })
  })

  const keys = async () =>
    (
      await store.find({
        ...place,
        sortBy: 'recency',
        sortOrder: 'asc',
        minScore: 0,
        limit: 99,
        offset: 0,
        now: 1,
      })
    )
      .map((found) => found.entry.key)
      .sort()

  it('lets in what fits to the byte, and nothing of what does not', async () => {
    await store.put(entry('a', 600), options)
    await expect(store.put(entry('b', 401), options)).rejects.toMatchObject(beyond)
    expect(await keys()).toEqual(['a'])
    await store.put(entry('b', 400), options)
    expect(await keys()).toEqual(['a', 'b'])
    const other = { namespace: 'other' }
    await store.put(entry('a', 600, other), options)
    await store.put(entry('a', 6000, { scope: 'long-term' }), options)
  })

  it('counts what a write replaces as gone', async () => {
    await store.put(entry('a', 600), options)
    await store.put(entry('a', 600, { updatedAt: 2 }), options)
    await store.put(entry('a', 1000), options)
    await expect(store.put(entry('a', 1001), options)).rejects.toMatchObject(beyond)
    await store.remove({ ...place, key: 'a' })
    await store.put(entry('b', 1000), options)
  })

  it.each<[string, Partial<Entry>]>([
    ['text', { text: 't'.repeat(1000) }],
    ['tags', { tags: Array.from({ length: 10 }, (_, i) => `${i}`.repeat(100)) }],
    ['type', { type: 't'.repeat(1000) }],
    ['a vector', { embedding: { model: 'm', vector: Array.from({ length: 250 }, () => 1) } }],
    [
      'the vector of each unit',
      {
        text: 'A line.\n\n'.repeat(90),
        embedding: { model: 'm', vector: Array.from({ length: 100 }, () => 1) },
      },
    ],
  ])('counts %s', async (_, more) => {
    await expect(store.put(entry('a', 10, more), options)).rejects.toMatchObject(beyond)
    expect(await keys()).toEqual([])
  })

  it('holds when many write at the same moment', async () => {
    const puts = Array.from({ length: 8 }, (_, i) => store.put(entry(`k${i}`, 400), options))
    const settled = await Promise.allSettled(puts)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    for (const each of settled) if (each.status === 'rejected') expect(each.reason).toMatchObject(beyond)
    expect(await keys()).toHaveLength(2)
  })

  it('looks at what a commit leaves, in whatever order it gets there', async () => {
    await store.put(entry('a', 500), options)
    await store.put(entry('b', 500), options)
    const swaps: Change[][] = [
      [
        { put: entry('a', 900), options },
        { put: entry('b', 100), options },
      ],
      [
        { put: entry('a', 100), options },
        { put: entry('b', 900), options },
      ],
      [{ remove: { ...place, key: 'a' } }, { put: entry('c', 100), options }],
      [{ remove: { ...place, key: 'b' } }, { put: entry('a', 900), options }],
    ]
    for (const swap of swaps) await store.commit(swap)
    expect(await keys()).toEqual(['a', 'c'])
    const tooMuch: Change[] = [{ remove: { ...place, key: 'c' } }, { put: entry('d', 101), options }]
    await expect(store.commit(tooMuch)).rejects.toMatchObject(beyond)
    expect(await keys()).toEqual(['a', 'c'])
  })

  it('is that of the archive, for what goes there', async () => {
    await store.put(entry('a', 1000), options)
    await store.cold?.put(entry('a', 600), options)
    await expect(store.cold?.put(entry('b', 600), options)).rejects.toMatchObject(beyond)
    await store.put(entry('a', 300, { updatedAt: 5 }), options)
    await store.put(entry('b', 600), options)
    const archive = (before: number) => store.cold?.archive({ ...place, before, now: 9, dryRun: false })
    await expect(archive(5)).rejects.toMatchObject(beyond)
    expect(await keys()).toEqual(['a', 'b'])
    // What is archived in place of an earlier copy counts once.
    expect(await archive(9)).toEqual({ archived: 2, errors: [] })
    await store.put(entry('c', 500), options)
    await expect(store.cold?.restore({ ...place, key: 'b' }, 9)).rejects.toMatchObject(beyond)
    expect(await store.cold?.restore({ ...place, key: 'a' }, 9)).toBe(true)
    expect(await keys()).toEqual(['a', 'c'])
  })

  it.each([Number.POSITIVE_INFINITY, 1e30])('of %s is none', async (working) => {
    store = createPostgresStore(engine.database, { quotas: { working } })
    await store.put(entry('a', 100_000), options)
    expect(await keys()).toEqual(['a'])
  })

  it('that is no whole number lets in what whole bytes it has', async () => {
    store = createPostgresStore(engine.database, { quotas: { working: 1000.5 } })
    await store.put(entry('a', 1000), options)
    await expect(store.put(entry('b', 10), options)).rejects.toMatchObject(beyond)
  })

  it.each([{ working: Number.NaN }, { working: -1 }, { working: '1000' }, { shortTerm: 1000 }])(
    'that is none is refused: %o',
    (quotas) => {
      const code = MemoryErrorCode.INVALID_INPUT
      expect(() => createPostgresStore(engine.database, { quotas: quotas as never })).toThrow(
        expect.objectContaining({ code }),
      )
    },
  )

  it('lets who is beyond it take away and make smaller', async () => {
    await createPostgresStore(engine.database).put(entry('a', 3000), options)
    await store.put(entry('a', 2000), options)
    await store.touch([{ ...place, key: 'a' }], 2)
    await expect(store.put(entry('b', 10), options)).rejects.toMatchObject(beyond)
    await expect(store.put(entry('a', 2001), options)).rejects.toMatchObject(beyond)
    expect(await store.remove({ ...place, key: 'a' })).toBe(true)
    await store.put(entry('b', 10), options)
  })
})
