import { connectHub, type HubClient, registerAgent } from '@recall/client'
import { fakeEmbedder } from '@recall/embeddings'
import { agents, retrievalEvents, rowsOf } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type HubSettings, parseConfig } from '../src/config/config.ts'
import { createHub } from '../src/create-hub.ts'
import type { HubParts, Retrieval } from '../src/hub.ts'
import { createRetrievalLog } from '../src/pipelines/note-retrievals.ts'
import { gate, gated } from './support/held-statements.ts'
import { type Engine, emptyTables, engines, lesson, noLimits } from './support/open-hub.ts'

/** As when others change the same rows in another order. */
const refusedVouches = [
  `create function in_the_way() returns trigger language plpgsql as $$
   begin raise exception 'deadlock' using errcode = '40P01'; end $$`,
  `create trigger in_the_way before insert on vouches execute function in_the_way()`,
]

describe.each(engines)('what searches return, with %s', (_, openEngine) => {
  let engine: Engine
  let logged: Record<string, unknown>[]

  beforeAll(async () => {
    engine = await openEngine()
  })
  afterAll(() => engine.close())
  beforeEach(() => emptyTables(engine.database))

  async function openHub(settings: HubSettings = noLimits, database = engine.database, clock = Date.now) {
    logged = []
    const hub = await createHub(parseConfig(settings), {
      database,
      embedder: fakeEmbedder(),
      clock,
      log: (line) => logged.push(line),
    })
    // What is recorded yet would be in the way when the tables are emptied.
    onTestFinished(() => hub.settled())
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
    // The author's own search counts nothing.
    for (let i = 0; i < 2; i++)
      expect(await author.search(lesson('redis'))).toMatchObject([{ retrieval_count: 1 }])
    await author.get(id)
    expect(await countEvents()).toBe(3)
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('leaves the writes that follow as durable as they were', async () => {
    const setting = async () =>
      (await rowsOf(engine.database, sql`select current_setting('synchronous_commit') as durable`))[0]
    const before = await setting()
    const { hub, reader } = await openHub()
    await reader.search(lesson('redis'))
    await hub.settled()
    expect(await setting()).toEqual(before)
    expect(before).toEqual({ durable: 'on' })
  })

  it('is kept for 30 days with the question, and then as far as it counts', async () => {
    let now = Date.UTC(2026, 0, 1)
    const { hub, author, reader, id } = await openHub(noLimits, engine.database, () => now)
    for (let i = 0; i < 2; i++) await reader.search(lesson('redis'))
    await hub.settled()
    now += 30 * 24 * 60 * 60 * 1000
    expect(await hub.maintain()).toMatchObject({ forgottenQuestions: 0 })
    now += 1
    await reader.search(lesson('redis'))
    expect(await hub.maintain()).toMatchObject({ forgottenQuestions: 2 })
    expect(await hub.maintain()).toMatchObject({ forgottenQuestions: 0 })
    const events = await engine.database.select().from(retrievalEvents)
    expect(events.map(({ query, counted, memoryId }) => [query, counted, memoryId]).sort()).toEqual([
      ['', true, id],
      [lesson('redis'), false, id],
    ])
    expect(await author.search(lesson('redis'))).toMatchObject([{ retrieval_count: 1 }])
  })

  it('is forgotten after that, however much it is', async () => {
    const { hub, reader, id } = await openHub()
    await engine.database.execute(sql`
      insert into retrieval_events (agent_id, memory_id, query, similarity, created_at)
      select ${(await reader.whoami()).id}::uuid, ${id}::uuid, 'redis', 1, '2020-01-01' from generate_series(1, 2001)`)
    expect(await hub.maintain()).toMatchObject({ forgottenQuestions: 2001 })
    expect(await countEvents()).toBe(0)
  })

  it('is not recorded of a search that shows its head alone', async () => {
    const { hub } = await openHub()
    const { apiKey } = await registerAgent({ url: 'http://localhost', fetch: hub.fetch }, 'watcher')
    const path = `http://localhost/api/v1/memory/search?q=${encodeURIComponent(lesson('redis'))}`
    const headers = { Authorization: `Bearer ${apiKey}` }
    for (const [method, events] of [
      ['HEAD', 0],
      ['GET', 1],
    ] as const) {
      expect((await hub.fetch(new Request(path, { method, headers }))).status).toBe(200)
      await hub.settled()
      expect(await countEvents()).toBe(events)
    }
  })

  it.each<[string, (agent: HubClient, id: string) => Promise<unknown>]>([
    ['another call', (agent, id) => agent.get(id)],
    ['a search that runs alone', (agent) => agent.search(lesson('redis'))],
  ])('is waited for by %s', async (_, ask) => {
    const { open, opened } = gate()
    const recording = gated(engine.database, /insert into retrieval_events/, (send) => opened.then(send))
    const { hub, author, reader, id } = await openHub(noLimits, recording)
    expect(await reader.search(lesson('redis'))).toHaveLength(1)
    let isAnswered = false
    const answer = ask(author, id).then(() => {
      isAnswered = true
    })
    for (let i = 0; i < 5; i++) await hub.fetch(new Request('http://localhost/readyz'))
    expect(isAnswered).toBe(false)
    open()
    await answer
    expect(await countEvents()).toBeGreaterThan(0)
  })

  it('is waited for by nobody who does not depend on it, and by nobody for long', async () => {
    const { open, opened } = gate()
    const recording = gated(engine.database, /insert into retrieval_events/, (send) => opened.then(send))
    const { author, reader, id } = await openHub(noLimits, recording)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await reader.search(lesson('redis'))
      await author.memory.write('long-term', 'key', 'value')
      for (const ask of [() => author.get(id), () => author.search(lesson('redis'))]) {
        const answer = ask()
        await vi.advanceTimersByTimeAsync(1000)
        await answer
      }
    } finally {
      vi.useRealTimers()
      open()
    }
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

  it('counts for each trusted agent that found it, also where they are recorded together', async () => {
    const { hub, author, reader, id } = await openHub()
    const { id: other } = await registerAgent({ url: 'http://localhost', fetch: hub.fetch }, 'other')
    const parts = { database: engine.database, clock: Date.now, call: (run: () => unknown) => run() }
    const retrievals = createRetrievalLog(parts as unknown as HubParts, (line) => logged.push(line))
    const found = [{ id, similarity: 1, trustLevel: 1 }]
    const noted = [(await reader.whoami()).id, other].map((searcher) =>
      retrievals.note({
        searcher: { id: searcher, tier: 'trusted' },
        query: 'q',
        found,
      } as unknown as Retrieval),
    )
    await Promise.all(noted)
    await retrievals.settled()
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
    expect(await author.search(lesson('redis'))).toMatchObject([{ retrieval_count: 2 }])
  })

  it('is recorded once when the promotion that follows is in the way of others', async () => {
    const { hub, author, reader } = await openHub({ ...noLimits, trust: { usefulMemories: 1 } })
    const { id } = await author.whoami()
    await engine.database.update(agents).set({ trustLevel: 0 }).where(eq(agents.id, id))
    for (const statement of refusedVouches) await engine.database.execute(sql.raw(statement))
    try {
      expect(await reader.search(lesson('redis'))).toHaveLength(1)
      await hub.settled()
    } finally {
      await engine.database.execute(sql`drop function in_the_way cascade`)
    }
    expect(await countEvents()).toBe(1)
    expect(logged.filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'promotion failed', code: 'MEMORY_CONFLICT' },
    ])
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
