import { MemoryErrorCode } from '@recall/core'
import { agents, type Database, systemConfig } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nearestMemories, own, visible } from '../src/pipelines/nearest.ts'
import { type Engine, engines } from './support.ts'

const ids = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const
const [ada, bob] = ids

const model = 'three'

/** So many that rows are no longer compared one by one. */
const crowd = 5500

describe.each(engines)('the nearest memories on %s', (_, open) => {
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
    await database.execute(
      sql`create index on memories using hnsw ((embedding::halfvec(3)) halfvec_cosine_ops) where vector_dims(embedding) = 3`,
    )
  })
  afterAll(() => engine.close())

  const asked = [0, 0.1, 1]
  const names = (found: { memories: { shortId: string }[] } | undefined) =>
    found?.memories.map(({ shortId }) => shortId)

  it('are found among more than are compared one by one, also when those that were seen first are all far', async () => {
    const search = nearestMemories({
      shelf: 'visible',
      allowed: visible,
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
    const [found] = await nearestMemories({ allowed: own, candidates: 2 })(database, asked, {
      model,
      agent: bob,
    })
    expect(names(found)).toEqual(['nearer', 'near'])
  })

  it('of a second kind are looked for unless the first has some that are near enough', async () => {
    const first = { allowed: own, candidates: 5 }
    const second = { allowed: sql`not ${own}`, candidates: 3, unlessFound: sql.placeholder('enough') }
    const search = nearestMemories(first, second)
    const [near, spared] = await search(database, asked, { model, agent: bob, enough: 0.9 })
    expect([names(near), names(spared)]).toEqual([['nearer', 'near'], []])
    const [, looked] = await search(database, asked, { model, agent: bob, enough: 1.1 })
    expect(names(looked)).toHaveLength(3)
  })

  it.each([
    ['of the same length', asked],
    ['of another length', [1, 2]],
  ])('are not told by the vector of another model, %s', async (_, vector) => {
    const search = nearestMemories({ shelf: 'visible', allowed: visible, candidates: 10 })
    for (let i = 0; i < 2; i++) {
      const answer = search(database, vector, { model: 'two', agent: ada })
      await expect(answer).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
    }
  })

  it('are returned in the order that is asked for, after the nearest were chosen', async () => {
    const order = sql`candidate.short_id desc`
    const search = nearestMemories({ allowed: own, candidates: 2, order, limit: 1 })
    const [found] = await search(database, [0, 0, 1], { model, agent: bob })
    expect([names(found), found?.best]).toEqual([['nearer'], 1])
  })
})
