import { agents, memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { newShortId } from '../src/short-id.ts'
import { engines, lesson, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

describe.each(engines)('what administrators look at on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let now: number
  let admin: TestAgent
  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), noLimits, { clock: () => now })
    admin = await hub.agent('root', 2)
  })

  const look = async <T>(path: string): Promise<T> =>
    (await (await hub.request('GET', `/api/v1/admin/${path}`, { key: admin.key })).json()) as T

  it('are the newest hundred agents of a name, the newest first', async () => {
    const createdAt = (i: number) => new Date(now + ((i * 7) % 101))
    await database()
      .insert(agents)
      .values(
        Array.from({ length: 101 }, (_, i) => ({ name: 'ada', apiKeyHash: `${i}`, createdAt: createdAt(i) })),
      )
    const found = (await look<{ agents: { created_at: string }[] }>('agents?name=ada')).agents
    const times = found.map(({ created_at }) => Date.parse(created_at) - now)
    expect(times).toEqual(Array.from({ length: 100 }, (_, i) => 100 - i))
    expect(await look('agents?name=ada&offset=1e300')).toMatchObject({ status: 400 })
  })

  it('are the newest hundred memories of an agent, the newest first, and none of others', async () => {
    const [ada, bob] = [await hub.agent('ada'), await hub.agent('bob')]
    const row = (agentId: string, at: number) => ({
      agentId,
      shortId: newShortId(),
      content: 'text',
      embeddingModel: 'fake',
      createdAt: new Date(now + at),
    })
    const rows = Array.from({ length: 101 }, (_, i) => row(ada.id, (i * 7) % 101))
    await database()
      .insert(memories)
      .values([...rows, row(bob.id, 200)])
    const { agent } = await look<{ agent: { memories: { created_at: string }[] } }>(`agents/${ada.id}`)
    const times = agent.memories.map(({ created_at }) => Date.parse(created_at) - now)
    expect(times).toEqual(Array.from({ length: 100 }, (_, i) => 100 - i))
  })

  it('is of a memory when it was deleted, how often it was found and cited, and who wrote it', async () => {
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const { id } = await ada.save({ content: lesson('redis'), tags: ['one', 'more'] })
    await bob.search(lesson('redis'))
    await bob.cite(id)
    const promotedAt = new Date(now)
    await database().update(agents).set({ promotedAt }).where(eq(agents.id, ada.id))
    now += 1000
    await ada.delete(id)
    expect(await look(`memory/${id}`)).toMatchObject({
      memory: {
        content: '',
        deleted_at: new Date(now).toISOString(),
        retrieval_count: 1,
        citations: 1,
        author: { id: ada.id, promoted_at: promotedAt.toISOString(), notes: [] },
      },
    })
  })
})
