import { MemoryErrorCode } from '@recall/core'
import { agents, createVectorIndexes, type Database, systemConfig } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { good, lowOfOthers, nearestMemories, own } from '../src/pipelines/nearest.ts'
import { type Engine, engines } from './support/open-hub.ts'

const ids = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const
const [ada, bob] = ids

const model = 'three'

const mine = [{ where: own }]

/** So many that rows are no longer compared one by one. */
const crowd = 5500

describe.each(engines)('the nearest memories on %s', (engineName, open) => {
  let engine: Engine
  let database: Database
  beforeAll(async () => {
    engine = await open()
    database = engine.database
    await database.insert(agents).values(ids.map((id) => ({ id, name: id, apiKeyHash: id })))
    await database.insert(systemConfig).values({ embeddingModel: model })
    // All that the crowd says points away from what is looked for.
    await database.execute(sql`
      insert into memories (short_id, agent_id, content, tags, embedding, embedding_model)
      select 'RCL-' || i, ${ada}::uuid, 'memory ' || i, '{a,b}', ('[' || cos(i) || ',' || sin(i) || ',' || -i / 1000.0 || ']')::vector, ${model}
      from generate_series(1, ${crowd}::integer) as i`)
    for (const [name, vector] of [
      ['near', '[0,0,1]'],
      ['nearer', '[0,0.1,1]'],
    ]) {
      await database.execute(sql`
        insert into memories (short_id, agent_id, content, tags, embedding, embedding_model)
        values (${name}, ${bob}::uuid, ${name}, '{a,b}', ${vector}::vector, ${model})`)
    }
    await createVectorIndexes(database, { table: 'memories', dimensions: 3 }, { concurrently: false })
  })
  afterAll(() => engine.close())

  const asked = [0, 0.1, 1]
  const names = (found: { memories: { shortId: string }[] } | undefined) =>
    found?.memories.map(({ shortId }) => shortId)

  it('are found among more than are compared one by one, also when those that were seen first are all far', async () => {
    const search = nearestMemories({
      shelf: 'good',
      among: good,
      candidates: 10,
      similarity: sql.placeholder('least'),
    })
    for (let i = 0; i < 2; i++) {
      const [found] = await search(database, asked, { model, agent: ada, least: 0.9 })
      expect(names(found)).toEqual(['nearer', 'near'])
      expect(found?.best).toBeCloseTo(1, 3)
    }
    expect(await search(database, asked, { model, agent: ada, least: 1.1 })).toEqual([
      { memories: [], best: -1 },
    ])
  })

  it('are found under a condition that few rows meet', async () => {
    const [found] = await nearestMemories({ among: mine, candidates: 2 })(database, asked, {
      model,
      agent: bob,
    })
    expect(names(found)).toEqual(['nearer', 'near'])
  })

  it('of a second kind are looked for unless the first has some that are near enough', async () => {
    const first = { among: mine, candidates: 5 }
    const second = {
      among: [{ where: sql`not ${own}` }],
      candidates: 3,
      unlessFound: sql.placeholder('enough'),
    }
    const search = nearestMemories(first, second)
    const [near, spared] = await search(database, asked, { model, agent: bob, enough: 0.9 })
    expect([names(near), names(spared)]).toEqual([['nearer', 'near'], []])
    const [, exact] = await search(database, [0, 0, 1], { model, agent: bob, enough: 1 })
    expect(names(exact)).toEqual([])
    const [, looked] = await search(database, asked, { model, agent: bob, enough: 1.1 })
    expect(names(looked)).toHaveLength(3)
  })

  it.each([
    ['of the same length', asked],
    ['of another length', [1, 2]],
  ])('are not told by the vector of another model, %s', async (_, vector) => {
    const search = nearestMemories({ shelf: 'good', among: good, candidates: 10 })
    for (let i = 0; i < 2; i++) {
      const answer = search(database, vector, { model: 'two', agent: ada })
      await expect(answer).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
    }
  })

  it('are returned in the order that is asked for, after the nearest were chosen', async () => {
    const order = sql`candidate.short_id desc`
    const search = nearestMemories({ among: mine, candidates: 2, order, limit: 1 })
    const [found] = await search(database, [0, 0, 1], { model, agent: bob })
    expect([names(found), found?.best]).toEqual([['nearer'], 1])
  })

  it('are found as good beneath a flood of others on the same subject', async () => {
    // On a server more than a walk through an index passes by; PGlite would take half a minute to index them.
    const flood = engineName === 'pglite' ? 5000 : 25_000
    for (let first = 1; first <= flood; first += 5000) {
      await database.execute(sql`
        insert into memories (short_id, agent_id, content, tags, embedding, embedding_model, quality, crowded)
        select 'low-' || i, ${ada}::uuid, 'low', '{a,b}', ('[' || cos(i) / 20 || ',' || sin(i) / 20 || ',1]')::vector, ${model}, -1, i > 3
        from generate_series(${first}::integer, ${first + 4999}::integer) as i`)
    }
    const search = nearestMemories(
      { shelf: 'good', among: good, candidates: 10 },
      { among: [lowOfOthers], candidates: 10 },
    )
    for (let i = 0; i < 2; i++) {
      const [found, others] = await search(database, asked, { model, agent: bob })
      expect(names(found)?.slice(0, 2)).toEqual(['nearer', 'near'])
      expect(names(others)?.sort()).toEqual(['low-1', 'low-2', 'low-3'])
    }
  })
})
