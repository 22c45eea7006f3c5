import { type Entry, MemoryErrorCode, type MemoryStore } from '@recall/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, plainEntry } from './support/engines.ts'

const place = { namespace: 'default', scope: 'working' } as const
const now = 1

describe.each(engines)('an answer of limited size on %s', (_, open) => {
  let engine: Engine
  let store: MemoryStore
  beforeAll(async () => {
    engine = await open()
    await emptyTables(engine.database)
    store = createPostgresStore(engine.database, { answerBytes: 1000 })
    // Beside it a key of one letter, two quotes and a text.
    for (const [key, bytes] of Object.entries({ a: 300, b: 400, c: 300, d: 5000 })) {
      const entry: Entry = plainEntry(key, { value: 'v'.repeat(bytes - 10), text: 'harbour' })
      await store.put({ ...entry, updatedAt: bytes }, { overwrite: true, now })
    }
  })
  afterAll(() => engine.close())

  const find = async (limit: number, query: object = {}): Promise<string[]> => {
    const listed = { sortBy: 'recency', sortOrder: 'asc', minScore: 0, offset: 0, now } as const
    return (await store.find({ ...place, ...listed, limit, ...query })).map(({ entry }) => entry.key)
  }
  const tooLarge = { code: MemoryErrorCode.QUOTA_EXCEEDED }

  it('holds what fits to the byte, and is refused before anything of more is read', async () => {
    for (const query of [{}, { text: 'harbour' }]) {
      expect((await find(3, query)).sort()).toEqual(['a', 'b', 'c'])
      await expect(find(4, query)).rejects.toMatchObject({
        ...tooLarge,
        message: 'these 4 entries hold 6000 bytes, more than the 1000 of one answer: ask for fewer at a time',
      })
    }
  })

  it('holds one entry, however large', async () => {
    expect(await find(1, { offset: 3 })).toEqual(['d'])
    expect(await store.get({ ...place, key: 'd' }, now)).toMatchObject({ key: 'd' })
  })

  it('is that of reads at the same moment, too', async () => {
    const read = (keys: string[]) => Promise.all(keys.map((key) => store.get({ ...place, key }, now)))
    expect((await read(['a', 'b', 'a', 'none'])).map((entry) => entry?.key)).toEqual([
      ...['a', 'b', 'a', undefined],
    ])
    await expect(read(['a', 'd'])).rejects.toMatchObject(tooLarge)
    await expect(read(['a', 'b', 'a', 'c'])).rejects.toMatchObject(tooLarge)
    await expect(read(['d', 'd'])).rejects.toMatchObject({
      ...tooLarge,
      message: 'these 2 entries hold 10000 bytes, more than the 1000 of one answer: ask for fewer at a time',
    })
  })
})
