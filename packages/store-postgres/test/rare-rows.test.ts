import { everything, type Filter } from '@recall/core'
import { type Query, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { liftTimeLimit } from '../src/engines/time-limit.ts'
import { placeId } from '../src/entries/address.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, indexVectors, sessionOf } from './support/engines.ts'
import { serverUrl } from './support/server-database.ts'

const rows = 100_000
const dimensions = 16
const query = {
  scope: 'long-term',
  offset: 0,
  limit: 10,
  sortBy: 'relevance',
  sortOrder: 'desc',
  minScore: 0,
  now: 1,
} as const

/** A centre, one of seven or the one given, with noise around it, the same at every run. */
const vectorOf = (i: string, own: number, centre = `${i} % 7`): string => `(
  select array_agg(sin((${centre}) * 12.9898 + d * 78.233) + 0.2 * sin(${i} * 39.3468 + d * 11.135 + ${own}))::real[]::vector
  from generate_series(1, ${dimensions}) as d
)`

/** The centre opposite to the one that is asked for. */
const farAway = String(3 + Math.PI / 12.9898)

// PGlite takes minutes to index so many; server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('100,000 rows with a vector index', () => {
  let engine: Engine
  const store = () => createPostgresStore(engine.database)

  const fill = (namespace: string, count: number, own: number, centre?: string): Promise<unknown> => {
    const place = placeId({ namespace, scope: 'long-term' }, { tenant: '', archived: false })
    const filling = sql.raw(`
        with made as (
          insert into entries (place, id, namespace, scope, key, value, fields, text, word_count, tags, created_at,
            updated_at, accessed_at, access_count, encrypted, embedding_model, dimensions)
          select '${place}', md5(i::text)::uuid, '${namespace}', 'long-term', i::text, '1', '{}', '', 0,
            case when i % 10000 = 0 then array['rare'] else '{}' end, 0, 0, 0, 0, false, 'clusters', ${dimensions}
          from generate_series(1, ${count}) as i
          returning place, id, key
        )
        insert into units (place, entry, unit, words, word_count, label, embedding)
        select place, id, 0, '', 0, '', ${vectorOf('key::int', own, centre)} from made`)
    return engine.database.transaction(async (transaction) => {
      await liftTimeLimit(transaction)
      await transaction.execute(filling)
    })
  }

  beforeAll(async () => {
    engine = await (engines.at(-1) as (typeof engines)[number])[1]()
    await emptyTables(engine.database)
    await fill('everybody', rows, 0)
    await fill('newcomer', rows / 10_000, 1)
    await fill('stranger', 6000, 2, farAway)
    await indexVectors(engine.database, dimensions)
    await engine.database.execute(sql`analyze entries, units`)
  })
  afterAll(() => engine.close())

  const ask = async (namespace: string, tags: string[]): Promise<string[]> => {
    const vector = Array.from({ length: dimensions }, (_, d) => Math.sin(3 * 12.9898 + (d + 1) * 78.233))
    const found = await store().find({ ...query, namespace, tags, embedding: { model: 'clusters', vector } })
    return found.map(({ entry }) => entry.key)
  }

  it('finds all that an owner of a ten-thousandth has', async () => {
    expect((await ask('newcomer', [])).sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => String(i + 1)).sort(),
    )
  })

  it('finds what an owner has, however much of others is nearer', async () => {
    expect(await ask('stranger', [])).toHaveLength(10)
  })

  it('finds all that a filter lets through, be it a ten-thousandth', async () => {
    expect((await ask('everybody', ['rare'])).sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => String((i + 1) * 10_000)).sort(),
    )
  })

  it('finds as many as are asked for where everything passes', async () => {
    expect(await ask('everybody', [])).toHaveLength(10)
  })

  it('walks through no index that would give up before it has enough for a deep page', async () => {
    const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
    const embedding = { model: 'clusters', vector: new Array<number>(dimensions).fill(1) }
    const page = { offset: 1900, limit: 100 }
    const found = await store().find({ ...query, ...page, namespace: 'stranger', embedding })
    const walks = statements.mock.calls
      .map(([each]) => each as Query)
      .filter((each) => each.sql.includes('hnsw'))
    statements.mockRestore()
    expect(found).toHaveLength(100)
    expect(walks.filter(({ params }) => params.includes(1000))).not.toEqual([])
    expect(walks.filter(({ params }) => params.includes(10_000))).toEqual([])
  })

  it('asks no more of the database for a filter without conditions', async () => {
    const statementsFor = async (filter?: Filter): Promise<number> => {
      const statements = vi.spyOn(sessionOf(engine.database), 'prepareQuery')
      const embedding = { model: 'clusters', vector: new Array<number>(dimensions).fill(1) }
      await store().find({ ...query, namespace: 'everybody', ...(filter ? { filter } : {}), embedding })
      const { length } = statements.mock.calls
      statements.mockRestore()
      return length
    }
    expect(await statementsFor({ kind: 'all', filters: [everything, everything] })).toBe(
      await statementsFor(),
    )
  })
})
