import { createMemoryManager, type Embedder } from '@recall/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, plainEntry } from './support/engines.ts'

describe.each(engines)('an archive on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(() => emptyTables(engine.database))

  it('keeps what is put there as it is given, also in place of an earlier copy', async () => {
    const { cold } = createPostgresStore(engine.database)
    const copies = [
      plainEntry('key', { createdAt: 10, updatedAt: 50, accessedAt: 50, accessCount: 7 }),
      plainEntry('key', { createdAt: 20, updatedAt: 30, accessedAt: 40, accessCount: 2 }),
    ]
    for (const copy of copies) {
      await cold.put(copy, { overwrite: true, now: 60 })
      expect(await cold.get(copy, 60)).toEqual(copy)
    }
  })

  it('takes as many as it is asked to, those first that were last written the longest ago', async () => {
    const store = createPostgresStore(engine.database)
    for (const [key, updatedAt] of Object.entries({ newest: 30, oldest: 10, older: 20 }))
      await store.put(plainEntry(key, { updatedAt }), { overwrite: true, now: 60 })
    const { namespace, scope } = plainEntry('any')
    const selection = { namespace, scope, before: 60, now: 60, dryRun: false, limit: 2 }
    expect(await store.cold.archive(selection)).toEqual({ archived: 2, errors: [] })
    const left = ['newest', 'older', 'oldest'].map((key) => store.get({ namespace, scope, key }, 60))
    expect((await Promise.all(left)).map((entry) => entry?.key)).toEqual(['newest', undefined, undefined])
    expect(await store.cold.archive(selection)).toEqual({ archived: 1, errors: [] })
  })

  it('brings a long entry back with the vectors of all its parts', async () => {
    const embedder: Embedder = {
      model: 'letters',
      dimensions: 2,
      embed: async (texts) => texts.map((text) => Float32Array.from(text.includes('y') ? [0, 1] : [1, 0])),
    }
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database), embedder })
    const value = ['x ', 'y '].map((letter) => letter.repeat(3000)).join('\n\n')
    await memory.write('episodic', 'long', value)
    expect(await memory.cleanup({ scope: 'episodic', archiveBefore: Date.now() + 1 })).toMatchObject({
      archived: 1,
    })
    expect(await memory.restore('episodic', 'long')).toBe(true)
    // No words of it, so that only its vectors can tell where they stand.
    for (const text of ['xx', 'yy']) {
      const [found] = await memory.search('episodic', { text })
      expect(found?.passage?.text).toContain(text[0])
    }
  })
})
