import { citations, memories, memoryLinks } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { newShortId } from '../src/short-id.ts'
import { engines, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const day = 24 * 60 * 60 * 1000
const now = Date.UTC(2026, 0, 1)

describe.each(engines)('the quality of memories on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let [author, reader, newcomer, admin]: TestAgent[] = []
  beforeEach(async () => {
    hub = await openHub(database(), noLimits, { clock: () => now })
    author = await hub.agent('author', 1)
    reader = await hub.agent('reader', 1)
    newcomer = await hub.agent('newcomer')
    admin = await hub.agent('root', 2)
  })

  type Row = Partial<typeof memories.$inferInsert>

  const write = async (row: Row = {}, by = author): Promise<string> => {
    const standard = { content: 'text', embeddingModel: 'fake', createdAt: new Date(now - 91 * day) }
    const [made] = await database()
      .insert(memories)
      .values({ agentId: by?.id ?? '', shortId: newShortId(), ...standard, ...row })
      .returning({ id: memories.id })
    return made?.id ?? ''
  }
  const cite = (memoryId: string, by?: TestAgent) =>
    database()
      .insert(citations)
      .values({ memoryId, agentId: by?.id ?? '' })
  const link = (memoryId: string, relatedId: string, similarity = 0.8) =>
    database().insert(memoryLinks).values({ memoryId, relatedId, relation: 'similar', similarity })
  const recompute = async () => {
    const answer = await hub.request('POST', '/api/v1/admin/recompute-quality', { key: admin?.key ?? '' })
    return answer.json()
  }
  const qualityOf = async (id: string) =>
    (await database().select().from(memories).where(eq(memories.id, id)))[0]?.quality

  it.each<[what: string, quality: number, make: () => Promise<string>]>([
    ['that nobody found', -1, () => write()],
    ['of a newcomer that nobody found', -1, () => write({}, newcomer)],
    ['that is not old enough', 0, () => write({ createdAt: new Date(now - 90 * day) })],
    ['that somebody found', 0, () => write({ retrievalCount: 1 })],
    [
      'like an earlier one',
      0,
      async () => {
        const id = await write()
        await link(id, await write({}, reader))
        return id
      },
    ],
    [
      'like a later one',
      0,
      async () => {
        const id = await write()
        await link(await write({}, reader), id)
        return id
      },
    ],
    [
      'like some of its author alone',
      -1,
      async () => {
        const id = await write()
        await link(id, await write())
        await link(await write(), id)
        return id
      },
    ],
    [
      'like some of newcomers alone',
      -1,
      async () => {
        const id = await write()
        await link(id, await write({}, newcomer))
        await link(await write({}, newcomer), id)
        return id
      },
    ],
    [
      'that somebody trusted cited',
      0,
      async () => {
        const id = await write()
        await cite(id, reader)
        return id
      },
    ],
    [
      'that newcomers cited, and of which another was cited',
      -1,
      async () => {
        const id = await write()
        await cite(id, newcomer)
        await cite(await write(), reader)
        return id
      },
    ],
    ['in quarantine', -2, () => write({ quality: -2 })],
    ['in quarantine that somebody found', -2, () => write({ quality: -2, retrievalCount: 1 })],
    ['of low signal', -1, () => write({ quality: -1 })],
    ['of low signal that somebody found', 0, () => write({ quality: -1, retrievalCount: 1 })],
    ['that was deleted', 0, () => write({ deletedAt: new Date(now) })],
    [
      'of low signal that somebody found, and that was deleted',
      -1,
      () => write({ quality: -1, retrievalCount: 1, deletedAt: new Date(now) }),
    ],
    ['of a newcomer that somebody found', -1, () => write({ quality: -1, retrievalCount: 1 }, newcomer)],
    [
      'that somebody found, but a copy',
      -1,
      async () => write({ quality: -1, retrievalCount: 1, duplicateOf: await write() }),
    ],
    [
      'as its author was no one when he repeated what was deleted since',
      -1,
      async () => {
        const id = await write({ quality: -1 })
        await link(id, await write({ deletedAt: new Date(now) }), 1)
        return id
      },
    ],
  ])('of one %s is %i after it was computed anew', async (_, quality, make) => {
    const id = await make()
    await recompute()
    expect(await qualityOf(id)).toBe(quality)
  })

  it('is computed of thousands, some at a time, and all are counted', async () => {
    await database().execute(sql`
      insert into memories (short_id, agent_id, content, embedding_model, created_at)
      select 'RCL-' || i, ${author?.id}, 'text', 'fake', '2025-01-01' from generate_series(1, 1100) as i`)
    expect(await recompute()).toEqual({ success: true, lowered: 1100, raised: 0 })
  })
})
