import { connectHub, registerAgent } from '@recall/client'
import { fakeEmbedder } from '@recall/embeddings'
import { agents, retrievalEvents } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { createHub } from '../src/create-hub.ts'
import { type Engine, emptyTables, engines, lesson, noLimits } from './support.ts'

describe.each(engines)('what searches return, with %s', (_, openEngine) => {
  let engine: Engine
  let logged: Record<string, unknown>[]

  beforeAll(async () => {
    engine = await openEngine()
  })
  afterAll(() => engine.close())
  beforeEach(() => emptyTables(engine.database))

  async function openHub() {
    logged = []
    const hub = await createHub(parseConfig(noLimits), {
      database: engine.database,
      embedder: fakeEmbedder(),
      log: (line) => logged.push(line),
    })
    const http = { url: 'http://localhost', fetch: hub.fetch, retries: 0 }
    const connect = async (name: string) =>
      connectHub({ ...http, apiKey: (await registerAgent(http, name)).apiKey })
    const [author, reader] = [await connect('author'), await connect('reader')]
    await engine.database.update(agents).set({ trustLevel: 1 })
    const { id } = await author.save({ content: lesson('redis'), tags: ['cache', 'restart'] })
    return { hub, author, reader, id }
  }

  const countEvents = () => engine.database.$count(retrievalEvents)

  it('is recorded while the search is answered, and seen by whatever is asked next', async () => {
    const { author, reader, id } = await openHub()
    expect(await reader.search(lesson('redis'))).toHaveLength(1)
    expect(await author.search(lesson('redis'))).toMatchObject([{ retrieval_count: 1 }])
    await author.get(id)
    expect(await countEvents()).toBe(2)
  })

  it('is told where an answer says why each result stands where it does', async () => {
    const { author, reader } = await openHub()
    const source_url = 'https://example.com/incidents/42'
    await author.save({ content: lesson('postgres'), tags: ['cache', 'restart'], source_url })
    const [plain] = await reader.search(lesson('redis'))
    expect(plain).not.toHaveProperty('signals')
    const results = await reader.search(lesson('redis'), { explain: true })
    expect(results.map(({ signals }) => signals)).toEqual(
      results.map(({ similarity, retrieval_count, source_url }) => ({
        similarity,
        retrievals: retrieval_count === 0 ? 0 : expect.closeTo((0.02 * Math.log(2)) / Math.log(1001)),
        source: source_url === null ? 0 : 0.005,
      })),
    )
    expect(results[0]).toMatchObject({ retrieval_count: 1, source_url: null })
    const ranks = results.map(({ signals = {} }) => Object.values(signals).reduce((sum, part) => sum + part))
    expect(ranks).toEqual([...ranks].sort((a, b) => b - a))
  })

  it('is recorded before the hub says that it has settled, however many search at once', async () => {
    const { hub, reader } = await openHub()
    await Promise.all(Array.from({ length: 150 }, () => reader.search(lesson('redis'))))
    await hub.settled()
    expect(await countEvents()).toBe(150)
  })

  it('costs nobody an answer when it cannot be recorded, and the log tells', async () => {
    const { hub, author, reader } = await openHub()
    await engine.database.execute(sql`alter table retrieval_events rename to elsewhere`)
    try {
      expect(await reader.search(lesson('redis'))).toHaveLength(1)
      await hub.settled()
    } finally {
      await engine.database.execute(sql`alter table elsewhere rename to retrieval_events`)
    }
    expect(logged.filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'retrievals lost', searches: 1 },
    ])
    expect(JSON.stringify(logged)).not.toContain('redis')
    await reader.search(lesson('redis'))
    expect(await author.search(lesson('redis'))).toMatchObject([{ retrieval_count: 1 }])
  })
})
