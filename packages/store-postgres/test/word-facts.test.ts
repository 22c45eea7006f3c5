import { createMemoryManager, type StoreQuery } from '@recall/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { vocabularyOf } from '../src/search/word-facts.ts'
import { type Engine, emptyTables, engines } from './support/engines.ts'

describe.each(engines)('%s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(() => emptyTables(engine.database))

  it('counts few and many terms alike, whatever characters they hold, in their own place alone', async () => {
    const tenant = 'harbour-master'
    const stores = createPostgresStore(engine.database, { tenant })
    const own = createMemoryManager({ stores, namespace: 'own' })
    const other = createMemoryManager({ stores, namespace: 'other' })
    for (const [i, text] of ['harbour lamp', 'harbour ship', 'harbour lamp lamp'].entries())
      await own.write('long-term', `n${i}`, text)
    await other.write('long-term', 'n', 'harbour lamp')
    const shelf = { tenant, archived: false, textConfiguration: null, quotas: {}, answerBytes: 1e9 }
    const query = { namespace: 'own', scope: 'long-term' } as StoreQuery
    const countsOf = async (terms: string[]) =>
      Object.fromEntries(
        (await vocabularyOf(engine.database, query, shelf, terms)).words.map(({ word, count }) => [
          word,
          count,
        ]),
      )
    const terms = ['harbour', 'lamp', "o'clock", 'back\\slash', 'zebra']
    const counts = { harbour: 3, lamp: 2, "o'clock": 0, 'back\\slash': 0, zebra: 0 }
    expect(await countsOf(terms)).toEqual(counts)
    const rare = Array.from({ length: 30 }, (_, i) => `walrus${i}`)
    const many = await countsOf([...rare, ...terms])
    expect(many).toMatchObject({ harbour: 3, lamp: 2 })
    expect(Object.keys(many).length).toBeLessThan(35)
  })
})
