import { agents, memories, retrievalEvents, vouches } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import type { HubParts } from '../src/hub.ts'
import { promoteAuthors } from '../src/trust/promotion.ts'
import { isTrustedIn, newcomerFoundBy, savedIn } from './support/newcomers.ts'
import { engines, lesson, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const dayMs = 24 * 60 * 60 * 1000

describe.each(engines)('trust on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let now: number
  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(
      database(),
      { ...noLimits, trust: { usefulMemories: 1, heartbeatDays: 1000 } },
      { clock: () => now },
    )
  })

  const isTrusted = (agent: TestAgent) => isTrustedIn(hub, agent)
  const foundBy = (reader: TestAgent) => newcomerFoundBy(hub, reader)
  const savedBy = (author: TestAgent) => savedIn(hub, author)

  it('one agent speaks for three others within a month', async () => {
    const reader = await hub.agent('reader', 1)
    const first = [await foundBy(reader), await foundBy(reader), await foundBy(reader)]
    expect(await Promise.all(first.map(isTrusted))).toEqual([true, true, true])
    const fourth = await foundBy(reader)
    expect(await isTrusted(fourth)).toBe(false)

    now += 30 * dayMs - 1
    expect(await isTrusted(await foundBy(reader))).toBe(false)
    now += 1
    expect(await isTrusted(await foundBy(reader))).toBe(true)
  })

  it('another agent may speak for whom the first one could not', async () => {
    const reader = await hub.agent('reader', 1)
    for (let i = 0; i < 3; i++) await foundBy(reader)
    const fourth = await foundBy(reader)
    const content =
      'walrus ocelot tamarin wombat: these are the words of one more memory that another reader finds.'
    await fourth.save({ content, tags: ['one', 'more'] })
    const other = await hub.agent('other reader', 1)
    await other.search(content)
    expect(await isTrusted(fourth)).toBe(true)
  })

  it('what was retrieved of an agent counts once an administrator trusts it, as after a promotion', async () => {
    hub = await withTrust({ usefulMemories: 2 })
    const admin = await hub.agent('root', 2)
    const author = await foundBy(await hub.agent('reader', 1))
    const unused =
      'ibex gecko lemur narwhal: these are the words of one more memory, which nobody has searched for.'
    await author.save({ content: unused, tags: ['one', 'more'] })
    const qualities = async () => (await savedBy(author)).map(({ quality }) => quality).toSorted()
    expect(await qualities()).toEqual([-1, -1])
    const trust = async (trust_level: number) => {
      const request = { key: admin.key, body: { trust_level } }
      const path = `/api/v1/admin/agents/${author.id}/trust`
      expect((await hub.request('POST', path, request)).status).toBe(200)
    }
    await trust(0)
    expect(await qualities()).toEqual([-1, -1])
    await trust(1)
    expect(await qualities()).toEqual([-1, 0])
  })

  it('the last administrator stays one', async () => {
    const root = await hub.agent('root', 2)
    const decide = async (key: string, id: string, decision: string, given = {}) => {
      const body = { reason: 'a change of hands', ...given }
      return (await hub.request('POST', `/api/v1/admin/agents/${id}/${decision}`, { key, body })).status
    }
    expect(await decide(root.key, root.id, 'quarantine')).toBe(409)
    expect(await decide(root.key, root.id, 'trust', { trust_level: 1 })).toBe(409)
    expect(await decide(root.key, root.id, 'trust', { trust_level: 2 })).toBe(200)
    const next = await hub.agent('next', 2)
    expect(await decide(root.key, root.id, 'trust', { trust_level: 1 })).toBe(200)
    expect(await decide(next.key, next.id, 'quarantine')).toBe(409)
  })

  it('administrators need not wait for maintenance to promote who qualifies', async () => {
    const admin = await hub.agent('root', 2)
    const author = await foundBy(await hub.agent('reader', 1))
    await hub.database.update(agents).set({ trustLevel: 0 }).where(eq(agents.id, author.id))
    const answer = await hub.request('POST', '/api/v1/admin/recompute-quality', { key: admin.key })
    expect(answer.status).toBe(200)
    expect(await isTrusted(author)).toBe(true)
  })

  it('one memory is one useful memory, however many found it', async () => {
    hub = await withTrust({ usefulMemories: 2 })
    const author = await foundBy(await hub.agent('reader', 1))
    const [memory] = await savedBy(author)
    const other = await hub.agent('other reader', 1)
    await other.search(memory?.content ?? '')
    expect(await isTrusted(author)).toBe(false)
    const content = 'lynx stoat marmot: the words of a second memory, which the other reader finds as well.'
    await author.save({ content, tags: ['one', 'more'] })
    await other.search(content)
    expect(await isTrusted(author)).toBe(true)
  })

  const withTrust = (trust: object) =>
    openHub(database(), { ...noLimits, trust: { heartbeatDays: 1000, ...trust } }, { clock: () => now })
  it('as many speak for an agent as the hub asks for, each of them once', async () => {
    hub = await withTrust({ usefulMemories: 1, retrievers: 2 })
    const [one, two] = [await hub.agent('one', 1), await hub.agent('two', 1)]
    const author = await foundBy(one)
    const content = 'lynx stoat marmot: the words of a second memory, which the reader finds as well.'
    await author.save({ content, tags: ['one', 'more'] })
    await one.search(content)
    expect(await isTrusted(author)).toBe(false)
    now += 1
    await two.search(content)
    expect(await isTrusted(author)).toBe(true)
    const vouched = await hub.database.select().from(vouches)
    expect(vouched.map(({ voucherId }) => voucherId).sort()).toEqual([one.id, two.id].sort())
  })

  it.each([{ from: 1, to: 0, qualities: [0, -1] } as const, { from: 0, to: 1, qualities: [-1, 0] } as const])(
    'an author set to $to writes as one of that trust, also where another process has not heard of it',
    async ({ from, to, qualities }) => {
      const [hub, other] = [await withTrust({}), await withTrust({})]
      const [admin, author] = [await hub.agent('admin', 2), await hub.agent('author', from)]
      const save = async (subject: string) => {
        const body = { content: lesson(subject), tags: ['pool', 'orders'] }
        const answer = await other.request('POST', '/api/v1/memory', { key: author.key, body })
        const { id } = (await answer.json()) as { id: string }
        const [row] = await database().select().from(memories).where(eq(memories.id, id))
        return row?.quality
      }
      const before = await save('redis')
      const request = { key: admin.key, body: { trust_level: to } }
      const set = await hub.request('POST', `/api/v1/admin/agents/${author.id}/trust`, request)
      expect(set.status).toBe(200)
      expect([before, await save('kafka')]).toEqual(qualities)
    },
  )

  it('administrators see who spoke for whom, and whether those are trusted still', async () => {
    hub = await withTrust({ usefulMemories: 1 })
    const admin = await hub.agent('admin', 2)
    const reader = await hub.agent('reader', 1)
    const author = await foundBy(reader)
    const look = async ({ id }: TestAgent) => {
      const answer = await hub.request('GET', `/api/v1/admin/agents/${id}`, { key: admin.key })
      return ((await answer.json()) as { agent: object }).agent
    }
    const at = new Date(now).toISOString()
    const promoted = { id: author.id, name: expect.any(String), trust_level: 1, at }
    expect(await look(reader)).toMatchObject({ vouched_by: [], vouched_for: [promoted] })
    await hub.database.update(agents).set({ trustLevel: 0 }).where(eq(agents.id, reader.id))
    const speaker = { id: reader.id, name: 'reader', trust_level: 0, at }
    expect(await look(author)).toMatchObject({ vouched_by: [speaker], vouched_for: [] })
  })

  it('whoever found it first speaks for an agent', async () => {
    hub = await withTrust({ usefulMemories: 2 })
    const readers = [await hub.agent('one', 1), await hub.agent('two', 1)]
    // Neither the order of their ids nor that in which they came.
    const [last, first] = readers.sort((a, b) => (a.id < b.id ? -1 : 1)) as [TestAgent, TestAgent]
    const author = await foundBy(first)
    const content = 'lynx stoat marmot: the words of a second memory, which the reader finds as well.'
    await author.save({ content, tags: ['one', 'more'] })
    now += 1
    await last.search(content)
    expect(await isTrusted(author)).toBe(true)
    expect(await hub.database.select().from(vouches)).toMatchObject([{ voucherId: first.id }])
  })

  it('where not all can be spoken for, whoever registered first comes first', async () => {
    hub = await withTrust({ usefulMemories: 1, vouches: 1 })
    const reader = await hub.agent('reader', 1)
    const first = await foundBy(reader)
    now += 1
    const second = await foundBy(reader)
    await hub.database.delete(vouches)
    await hub.database.update(agents).set({ trustLevel: 0 }).where(eq(agents.id, first.id))
    await hub.maintain()
    expect([await isTrusted(first), await isTrusted(second)]).toEqual([true, false])
  })

  it('whoever is promoted anew has been spoken for anew', async () => {
    hub = await withTrust({ usefulMemories: 1, vouches: 1 })
    const [admin, reader] = [await hub.agent('admin', 2), await hub.agent('reader', 1)]
    const first = await foundBy(reader)
    for (const action of ['quarantine', 'restore'])
      await hub.request('POST', `/api/v1/admin/agents/${first.id}/${action}`, { key: admin.key })
    now += 30 * dayMs
    await hub.maintain()
    expect(await isTrusted(first)).toBe(true)
    now += dayMs
    expect(await isTrusted(await foundBy(reader))).toBe(false)
  })

  it('what was found by whom nobody trusted yet speaks for nobody, also later', async () => {
    const reader = await hub.agent('reader')
    const author = await foundBy(reader)
    await hub.database.update(agents).set({ trustLevel: 1 }).where(eq(agents.id, reader.id))
    await hub.maintain()
    expect(await isTrusted(author)).toBe(false)
  })

  it('an administrator stays one, whoever finds its memories', async () => {
    const admin = await hub.agent('admin', 2)
    const content = 'lynx stoat marmot: the words of a memory of the administrator, which a reader finds.'
    await admin.save({ content, tags: ['one', 'more'] })
    await (await hub.agent('reader', 1)).search(content)
    await hub.maintain()
    const [row] = await hub.database.select().from(agents).where(eq(agents.id, admin.id))
    expect(row).toMatchObject({ trustLevel: 2, promotedAt: null })
  })

  it('whom others made trusted speaks for nobody until a month has passed', async () => {
    const reader = await hub.agent('reader', 1)
    const promoted = await foundBy(reader)
    const friend = await foundBy(promoted)
    expect(await isTrusted(friend)).toBe(false)
    now += 30 * dayMs - 1
    expect(await isTrusted(await foundBy(promoted))).toBe(false)
    now += 1
    expect(await isTrusted(await foundBy(promoted))).toBe(true)
  })

  it('whom an administrator trusts need not wait', async () => {
    const admin = await hub.agent('admin', 2)
    const promoted = await foundBy(await hub.agent('reader', 1))
    const path = `/api/v1/admin/agents/${promoted.id}/trust`
    await hub.request('POST', path, { key: admin.key, body: { trust_level: 1 } })
    expect(await isTrusted(await foundBy(promoted))).toBe(true)
  })

  it('of whom others made trusted, what somebody found counts as normal, except copies', async () => {
    hub = await withTrust({ usefulMemories: 2 })
    const reader = await hub.agent('reader', 1)
    const original = await foundBy(reader)
    const author = await foundBy(reader)
    const texts = {
      useful: 'lynx stoat marmot: the words of a second memory, which the reader finds as well.',
      unseen: 'Nobody asked about the tamarin yet, whose cage is to be painted green in the spring.',
      copy: 'Whoever feeds the ocelot at noon writes down how much was left of it in the evening.',
    }
    const ids: Record<string, string> = {}
    for (const [name, content] of Object.entries(texts))
      ids[name] = (await author.save({ content, tags: ['of', name] })).id
    const [first] = await hub.database.select().from(memories).where(eq(memories.agentId, original.id))
    await hub.database
      .update(memories)
      .set({ duplicateOf: first?.id, retrievalCount: 1 })
      .where(eq(memories.id, ids.copy ?? ''))
    expect(await isTrusted(author)).toBe(false)
    await reader.search(texts.useful)
    expect(await isTrusted(author)).toBe(true)
    const quality = Object.fromEntries((await savedBy(author)).map((row) => [row.id, row.quality]))
    expect(Object.keys(texts).map((name) => quality[ids[name] ?? ''])).toEqual([0, -1, -1])
    // Of somebody else nothing is, though it was found.
    expect(await savedBy(original)).toMatchObject([{ quality: -1 }])
  })

  describe('at the same moment as it would be promoted', () => {
    /** Does something between the look at who qualifies and the promotion. */
    const promoteAfter = async ({ id }: TestAgent, usefulMemories: number, act: () => Promise<unknown>) => {
      let acted: Promise<unknown> | undefined
      const parts = {
        config: parseConfig({ ...noLimits, trust: { usefulMemories } }),
        database: hub.database,
        clock: () => now,
        auth: { forget() {} },
        async call<T>(run: () => Promise<T>): Promise<T> {
          const result = await run()
          acted ??= act()
          await acted
          return result
        },
      }
      await promoteAuthors(parts as unknown as HubParts, [id])
      expect(acted).toBeDefined()
      const [row] = await hub.database.select().from(agents).where(eq(agents.id, id))
      return { trustLevel: row?.trustLevel, promotedAt: row?.promotedAt }
    }
    const ofNobody = { trustLevel: 0, promotedAt: null }
    const setBack = async ({ id }: TestAgent) => {
      await hub.database.update(agents).set(ofNobody).where(eq(agents.id, id))
      await hub.database.delete(vouches)
    }

    it.each(['its memory', 'the agent'])('%s is put in quarantine: it is not', async (what) => {
      const admin = await hub.agent('admin', 2)
      const author = await foundBy(await hub.agent('reader', 1))
      await setBack(author)
      const [memory] = await hub.database.select().from(memories).where(eq(memories.agentId, author.id))
      const path = what === 'the agent' ? `agents/${author.id}/quarantine` : `quarantine/${memory?.id}`
      const hide = async () => {
        const { status } = await hub.request('POST', `/api/v1/admin/${path}`, { key: admin.key })
        expect(status).toBe(200)
      }
      expect(await promoteAfter(author, 1, hide)).toEqual(ofNobody)
      expect(await hub.database.$count(vouches)).toBe(0)
    })

    it('one of the memories that speak for it is deleted: it is not', async () => {
      const reader = await hub.agent('reader', 1)
      const author = await foundBy(reader)
      const content = 'lynx stoat marmot: the words of a second memory, which the reader finds as well.'
      const { id } = await author.save({ content, tags: ['one', 'more'] })
      await reader.search(content)
      await setBack(author)
      expect(await promoteAfter(author, 2, () => author.delete(id))).toEqual(ofNobody)
      expect(await hub.database.$count(vouches)).toBe(0)
    })
  })

  it('whom an administrator set back stays so, whoever retrieves its memories', async () => {
    const admin = await hub.agent('admin', 2)
    const reader = await hub.agent('reader', 1)
    const agent = await foundBy(reader)
    expect(await isTrusted(agent)).toBe(true)
    const set = (trust_level: number) =>
      hub.request('POST', `/api/v1/admin/agents/${agent.id}/trust`, { key: admin.key, body: { trust_level } })
    await agent.whoami()
    await set(0)
    const content = 'lynx stoat marmot: the words of what is said by an agent that has just been set back.'
    const { id } = await agent.save({ content, tags: ['one', 'more'] })
    expect((await savedBy(agent)).find((memory) => memory.id === id)).toMatchObject({ quality: -1 })
    await hub.maintain()
    expect(await isTrusted(agent)).toBe(false)
    await set(1)
    expect(await isTrusted(agent)).toBe(true)
  })

  it.each<[string, (author: TestAgent, reader: TestAgent, admin: TestAgent) => Promise<unknown>]>([
    [
      'its reader was set back',
      (_, { id }, { key }) =>
        hub.request('POST', `/api/v1/admin/agents/${id}/trust`, { key, body: { trust_level: 0 } }),
    ],
    [
      'its reader is in quarantine, whatever the trust it has',
      async (_, { id }, { key }) => {
        await hub.request('POST', `/api/v1/admin/agents/${id}/quarantine`, { key })
        await hub.request('POST', `/api/v1/admin/agents/${id}/trust`, { key, body: { trust_level: 1 } })
      },
    ],
    [
      'its memory is a copy',
      async ({ id }, reader) => {
        const original = await foundBy(reader)
        const [of] = await hub.database.select().from(memories).where(eq(memories.agentId, original.id))
        await hub.database.update(memories).set({ duplicateOf: of?.id }).where(eq(memories.agentId, id))
      },
    ],
    [
      'its memory was deleted',
      async (author) => {
        const [memory] = await savedBy(author)
        expect(await author.delete(memory?.id ?? '')).toBe('deleted')
      },
    ],
    [
      'its memory was deleted after it was cited',
      async (author, reader) => {
        const [memory] = await savedBy(author)
        await reader.cite(memory?.id ?? '')
        expect(await author.delete(memory?.id ?? '')).toBe('tombstone')
      },
    ],
  ])('a retrieval does not speak for an author: %s', async (_, change) => {
    const admin = await hub.agent('admin', 2)
    const reader = await hub.agent('reader', 1)
    const author = await foundBy(reader)
    const setBack = async () => {
      await hub.database.delete(vouches)
      await hub.database.update(agents).set({ trustLevel: 0 }).where(eq(agents.id, author.id))
    }
    await setBack()
    await hub.maintain()
    expect(await isTrusted(author)).toBe(true)
    await setBack()
    await change(author, reader, admin)
    await hub.maintain()
    expect(await isTrusted(author)).toBe(false)
  })

  it('an administrator finds each of many agents of one name', async () => {
    const { key } = await hub.agent('admin', 2)
    await hub.database.execute(sql`
      insert into agents (name, api_key_hash, created_at)
      select 'many', 'hash ' || i, to_timestamp(i / 2) from generate_series(1, 205) as i`)
    const page = async (offset: number): Promise<string[]> => {
      const answer = await hub.request('GET', `/api/v1/admin/agents?name=many&offset=${offset}`, { key })
      return ((await answer.json()) as { agents: { id: string }[] }).agents.map(({ id }) => id)
    }
    const pages = [await page(0), await page(100), await page(200)]
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 5])
    expect(new Set(pages.flat()).size).toBe(205)
    expect((await hub.request('GET', '/api/v1/admin/agents?name=many&offset=-1', { key })).status).toBe(400)
  })

  it('what somebody found counts until he loses his trust, and anew when he has it again', async () => {
    const [admin, bad, good] = [
      await hub.agent('admin', 2),
      await hub.agent('bad', 1),
      await hub.agent('good', 1),
    ]
    const author = await foundBy(good)
    const [memory] = await savedBy(author)
    await bad.search(memory?.content ?? '')
    const decide = (path: string, body?: object) =>
      hub.request('POST', `/api/v1/admin/${path}`, { key: admin.key, ...(body ? { body } : {}) })
    const count = async () => {
      await decide('recompute-quality')
      return (await hub.database.select().from(memories))[0]?.retrievalCount
    }
    expect(await count()).toBe(2)
    await decide(`agents/${bad.id}/quarantine`)
    expect([await count(), await count()]).toEqual([1, 1])
    await decide(`agents/${bad.id}/restore`)
    await decide(`agents/${bad.id}/trust`, { trust_level: 1 })
    expect(await count()).toBe(1)
    await bad.search(memory?.content ?? '')
    expect(await count()).toBe(2)
    await decide(`agents/${bad.id}/trust`, { trust_level: 0 })
    expect(await count()).toBe(1)
  })

  it('what somebody in quarantine found or cited counts not at all, whatever the trust it has', async () => {
    const [admin, bad] = [await hub.agent('admin', 2), await hub.agent('bad', 1)]
    const author = await foundBy(bad)
    const [memory] = await savedBy(author)
    const id = memory?.id ?? ''
    expect(await bad.cite(id)).toMatchObject({ citations: 1 })
    for (const [path, body] of [
      ['quarantine', {}],
      ['trust', { trust_level: 1 }],
    ] as const)
      await hub.request('POST', `/api/v1/admin/agents/${bad.id}/${path}`, { key: admin.key, body })
    await hub.maintain()
    const [row] = await hub.database.select().from(memories).where(eq(memories.id, id))
    expect(row?.retrievalCount).toBe(0)
    expect(await admin.cite(id)).toMatchObject({ citations: 1 })
  })

  it('what counts no more is forgotten with its question, whichever of the two comes first', async () => {
    const [admin, bad] = [await hub.agent('admin', 2), await hub.agent('bad', 1)]
    await foundBy(bad)
    const [memory] = await savedBy(await foundBy(bad))
    const events = () => hub.database.$count(retrievalEvents, eq(retrievalEvents.agentId, bad.id))
    await hub.database
      .update(retrievalEvents)
      .set({ createdAt: new Date(now + dayMs) })
      .where(eq(retrievalEvents.memoryId, memory?.id ?? ''))
    now += 30 * dayMs + 1
    await hub.maintain()
    expect(await events()).toBe(2)
    await hub.request('POST', `/api/v1/admin/agents/${bad.id}/quarantine`, { key: admin.key })
    await hub.maintain()
    expect(await events()).toBe(1)
    const rows = await hub.database.select().from(memories)
    expect(rows.map(({ retrievalCount }) => retrievalCount)).toEqual([0, 0])
    now += dayMs
    await hub.maintain()
    expect(await events()).toBe(0)
  })

  it('an agent counts once for a memory, however many search at the same moment', async () => {
    const author = await hub.agent('author', 1)
    const content = 'The walrus build needs two more gigabytes of memory, or it stops half way through.'
    const { id } = await author.save({ content, tags: ['walrus', 'build'] })
    const readers = [await hub.agent('one', 1), await hub.agent('two', 1), await hub.agent('new'), author]
    const searches = Array.from({ length: 20 }, (_, i) => readers[i % 4]?.search(content))
    for (const found of await Promise.all(searches)) expect(found?.[0]?.id).toBe(id)

    const events = await hub.database.select().from(retrievalEvents).where(eq(retrievalEvents.memoryId, id))
    expect(events).toHaveLength(20)
    const counted = events.filter((event) => event.counted).map(({ agentId }) => agentId)
    expect(counted.sort()).toEqual([readers[0]?.id, readers[1]?.id].sort())
    const [memory] = await hub.database.select().from(memories).where(eq(memories.id, id))
    expect(memory?.retrievalCount).toBe(2)
  })
})
