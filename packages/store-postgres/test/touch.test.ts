import { createMemoryManager } from '@recall/core'
import { createMemoryCache } from '@recall/core/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, plainEntry } from './support/engines.ts'

describe.each(engines)('reads from a cache before %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
    await emptyTables(engine.database)
  })
  afterAll(() => engine.close())

  it('are all counted, each in its scope', async () => {
    const stores = createPostgresStore(engine.database)
    const memory = createMemoryManager({ stores, cache: createMemoryCache() })
    const counts = { 'long-term': 5, episodic: 3 } as const
    const scopes = Object.keys(counts) as (keyof typeof counts)[]
    for (const scope of scopes) await memory.write(scope, 'key', scope)
    await memory.write('long-term', 'other', 1)
    await memory.read('long-term', 'other')
    for (const scope of scopes) for (let i = 0; i < counts[scope]; i++) await memory.read(scope, 'key')
    await memory.read('long-term', 'other')
    for (const scope of scopes) {
      const record = await memory.read(scope, 'key', { includeMetadata: true })
      expect(record?.metadata.accessCount).toBe(counts[scope] + 1)
    }
    const record = await memory.read('long-term', 'other', { includeMetadata: true })
    expect(record?.metadata.accessCount).toBe(3)
  })
})

describe.each(engines)('an access on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
    await emptyTables(engine.database)
  })
  afterAll(() => engine.close())

  it('sets nothing back that is recorded late, and brings nothing back that has expired', async () => {
    const store = createPostgresStore(engine.database)
    const entry = plainEntry('key', { ttl: 100, expiresAt: 101 })
    await store.put(entry, { overwrite: true, now: 1 })
    for (const now of [50, 20]) await store.touch([entry], now)
    expect(await store.get(entry, 149)).toMatchObject({ accessedAt: 50, accessCount: 2, expiresAt: 150 })
    await store.touch([entry], 150)
    expect(await store.get(entry, 149)).toMatchObject({ accessedAt: 50, accessCount: 2, expiresAt: 150 })
  })

  it('shows in what a filter finds from then on', async () => {
    await emptyTables(engine.database)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database) })
    await memory.write('long-term', 'read', 1)
    await memory.write('long-term', 'left', 1)
    await memory.read('long-term', 'read')
    const keysWith = async (accessCount: number) => {
      const found = await memory.search('long-term', { filters: { accessCount } }, { touch: false })
      return found.map(({ key }) => key)
    }
    expect([await keysWith(0), await keysWith(1)]).toEqual([['left'], ['read']])
  })
})
