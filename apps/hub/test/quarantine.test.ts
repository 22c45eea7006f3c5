import { MemoryErrorCode } from '@recall/core'
import { agents, memories } from '@recall/store-postgres'
import { eq, inArray } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAuthenticator } from '../src/access/authenticator.ts'
import { parseConfig } from '../src/config/config.ts'
import type { Hub } from '../src/hub.ts'
import { quarantineAgent } from '../src/trust/quarantine.ts'
import { degrees } from './support/degrees.ts'
import { isTrustedIn, newcomerFoundBy, savedIn } from './support/newcomers.ts'
import { codeOf, engines, noLimits, openHub, type TestAgent, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const now = Date.UTC(2026, 0, 1)

describe.each(engines)('quarantine on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    const trust = { usefulMemories: 1, heartbeatDays: 1000 }
    hub = await openHub(database(), { ...noLimits, trust }, { clock: () => now })
  })

  const isTrusted = (agent: TestAgent) => isTrustedIn(hub, agent)
  const foundBy = (reader: TestAgent) => newcomerFoundBy(hub, reader)
  const savedBy = (author: TestAgent) => savedIn(hub, author)

  it.each([
    ['a trusted author', 1, false, 0],
    ['a trusted author, who copied it', 1, true, -1],
    ['a newcomer', 0, false, -1],
  ] as const)('what is let out of quarantine counts as new: of %s', async (_, trust, isCopy, quality) => {
    const admin = await hub.agent('admin', 2)
    const original = isCopy ? await foundBy(admin) : undefined
    const author = await hub.agent('author', trust)
    const [copied] = original ? await savedBy(original) : []
    const content =
      copied?.content ?? 'lynx stoat marmot: the words of a memory that some want to have out of their sight.'
    const { id } = await author.save({ content, tags: ['one', 'more'] })
    for (const action of ['quarantine', 'restore'])
      await hub.request('POST', `/api/v1/admin/${action}/${id}`, { key: admin.key })
    expect(await savedBy(author)).toMatchObject([{ quality }])
  })

  it.each<[what: string, reason: string, status: number]>([
    ['a thousand characters', 'x'.repeat(1000), 200],
    ['more', 'x'.repeat(1001), 400],
    ['blanks alone', ' \n', 400],
    ['a NUL', 'a\u0000', 400],
    ['half a character', 'a\ud800', 400],
  ])(
    'the reason for a decision is a text of a thousand characters at most: %s',
    async (_, reason, status) => {
      const admin = await hub.agent('admin', 2)
      const path = `/api/v1/admin/agents/${admin.id}/trust`
      const answer = await hub.request('POST', path, { key: admin.key, body: { trust_level: 2, reason } })
      expect(answer.status).toBe(status)
    },
  )

  it('what looks like a template counts once an administrator has let it out, and stays so', async () => {
    const turned = await openHub(database(), noLimits, { clock: () => now, embedder: degrees })
    const admin = await turned.agent('admin', 2)
    const author = await turned.agent('author', 1)
    let last = ''
    for (const angle of [-22, -18, -15, 15, 18, 0])
      last = (await author.save({ content: degrees.text(angle), tags: ['one', 'more'] })).id
    const quality = async () => {
      const [row] = await database().select().from(memories).where(eq(memories.id, last))
      return row?.quality
    }
    expect(await quality()).toBe(-1)
    for (const action of ['quarantine', 'restore'])
      await turned.request('POST', `/api/v1/admin/${action}/${last}`, { key: admin.key })
    await turned.maintain()
    expect(await quality()).toBe(0)
  })

  it('what is nearly what others said several times is no template', async () => {
    const turned = await openHub(database(), noLimits, { clock: () => now, embedder: degrees })
    const [author, other] = [await turned.agent('author', 1), await turned.agent('other', 1)]
    const saveAt = async (agent: typeof author, angle: number) =>
      (await agent.save({ content: degrees.text(angle), tags: ['one', 'more'] })).id
    for (const angle of [-22, -18, -15, 15, 18]) await saveAt(other, angle)
    const last = await saveAt(author, 0)
    const [row] = await database().select().from(memories).where(eq(memories.id, last))
    expect(row?.quality).toBe(0)
  })

  it('each quarantine of a memory bars its author until it is lifted, and that of the agent lasts', async () => {
    const admin = await hub.agent('admin', 2)
    const author = await hub.agent('author')
    const decide = async (path: string): Promise<number | undefined> => {
      await hub.request('POST', `/api/v1/admin/${path}`, { key: admin.key })
      const [row] = await hub.database.select().from(agents).where(eq(agents.id, author.id))
      return row?.quarantines
    }
    const ids: string[] = []
    for (const subject of ['walrus', 'ocelot'])
      ids.push((await author.save({ content: `${subject} `.repeat(20), tags: ['of', subject] })).id)
    expect(await decide(`quarantine/${ids[0]}`)).toBe(1)
    expect(await decide(`quarantine/${ids[1]}`)).toBe(2)
    expect(await decide(`restore/${ids[0]}`)).toBe(1)
    // Twice, as who was interrupted does it again.
    for (const _ of [1, 2]) expect(await decide(`agents/${author.id}/quarantine`)).toBe(2)
    expect((await savedBy(author)).map(({ quality }) => quality)).toEqual([-2, -2])
    expect(await decide(`restore/${ids[1]}`)).toBe(2)
    expect(await decide(`agents/${author.id}/restore`)).toBe(0)
  })

  it('a quarantine is lifted also of what its author has deleted since, and of nothing before', async () => {
    const admin = await hub.agent('admin', 2)
    const author = await hub.agent('author', 1)
    const content = 'lynx stoat marmot: the words of a memory that is hidden, deleted and contested then.'
    const { id } = await author.save({ content, tags: ['one', 'more'] })
    const decide = async (action: string) =>
      (await hub.request('POST', `/api/v1/admin/${action}/${id}`, { key: admin.key })).status
    const quarantines = async () => {
      const [row] = await hub.database.select().from(agents).where(eq(agents.id, author.id))
      return row?.quarantines
    }
    await decide('quarantine')
    expect(await author.delete(id)).toBe('tombstone')
    expect((await hub.database.select().from(memories))[0]).toMatchObject({ content: '', quality: -2 })
    expect((await hub.request('GET', `/api/v1/memory/${id}`, { key: admin.key })).status).toBe(404)
    expect(await quarantines()).toBe(1)
    expect(await decide('restore')).toBe(200)
    expect(await quarantines()).toBe(0)
  })

  it('what is hidden is related to nothing but for its author, and what is deleted for nobody', async () => {
    const [admin, ada] = [await hub.agent('admin', 2), await hub.agent('ada', 1)]
    const said = {
      content: 'lynx stoat marmot: the words that several agents save, one after the other, as their own.',
      tags: ['one', 'more'],
    }
    const { id } = await ada.save(said)
    const [author, other] = [await hub.agent('author', 1), await hub.agent('other', 1)]
    const [hidden, deleted] = [await author.save(said), await other.save(said)]
    await hub.database
      .update(memories)
      .set({ quality: 0, duplicateOf: null })
      .where(inArray(memories.id, [hidden.id, deleted.id]))
    const relatedFor = async (reader: TestAgent) => (await reader.get(id)).related.map((each) => each.id)
    expect((await relatedFor(ada)).toSorted()).toEqual([hidden.id, deleted.id].toSorted())
    await hub.request('POST', `/api/v1/admin/quarantine/${hidden.id}`, { key: admin.key })
    await ada.cite(deleted.id)
    expect(await other.delete(deleted.id)).toBe('tombstone')
    expect([await relatedFor(ada), await relatedFor(other), await relatedFor(author)]).toEqual([
      [],
      [],
      [hidden.id],
    ])
  })

  it('nothing of an agent is hidden that was let back in before its quarantine had hidden anything', async () => {
    const admin = await hub.agent('admin', 2)
    const author = await foundBy(await hub.agent('reader', 1))
    let restored: Promise<Response> | undefined
    const parts = {
      config: parseConfig({}),
      database: hub.database,
      clock: () => now,
      auth: { forget() {} },
      async call<T>(run: () => Promise<T>): Promise<T> {
        const result = await run()
        restored ??= hub.request('POST', `/api/v1/admin/agents/${author.id}/restore`, { key: admin.key })
        expect((await restored).status).toBe(200)
        return result
      },
    } as unknown as Hub
    await quarantineAgent(parts, author.id, { by: { id: admin.id, name: 'admin' } })
    expect(await savedBy(author)).toMatchObject([{ quality: 0 }])
  })

  it('nothing of an agent is written beside what its quarantine hides', async () => {
    const admin = await hub.agent('admin', 2)
    const spammer = await hub.agent('spammer', 1)
    const write = (text: string) =>
      hub.request('POST', '/api/v1/memory', {
        key: spammer.key,
        body: { content: `${text} and more of it, `.repeat(10), tags: ['spam', 'test'] },
      })
    expect((await write('first')).status).toBe(201)
    // Another process, which knows the key still.
    const other = await openHub(hub.database, noLimits, { clock: () => now })
    const path = `/api/v1/admin/agents/${spammer.id}/quarantine`
    expect((await other.request('POST', path, { key: admin.key })).status).toBe(200)
    expect((await write('second')).status).toBe(403)
    const rows = await hub.database.select().from(memories).where(eq(memories.agentId, spammer.id))
    expect(rows.map(({ quality }) => quality)).toEqual([-2])
  })

  it('turns an agent away at once, also where its key was being looked up', async () => {
    const admin = await hub.agent('admin', 2)
    const spammer = await hub.agent('spammer', 1)
    let quarantine = async (): Promise<void> => {
      quarantine = async () => {}
      await quarantineAgent(parts, spammer.id, { by: { id: admin.id, name: 'admin' } })
    }
    const auth = createAuthenticator(database(), {
      async call(run) {
        const found = await run()
        await quarantine()
        return found
      },
    })
    const call = <T>(run: () => Promise<T>): Promise<T> => run()
    const parts = {
      config: parseConfig({}),
      database: database(),
      clock: () => now,
      auth,
      call,
    } as unknown as Hub
    expect(await auth.authenticate(`Bearer ${spammer.key}`)).toMatchObject({ id: spammer.id })
    expect(await codeOf(() => auth.authenticate(`Bearer ${spammer.key}`))).toBe(MemoryErrorCode.FORBIDDEN)
  })

  it('an administrator who was disabled decides nothing, where its key is still known', async () => {
    const rogue = await hub.agent('rogue', 2)
    const admin = await hub.agent('admin', 2)
    const accomplice = await hub.agent('accomplice')
    const trust = () =>
      hub.request('POST', `/api/v1/admin/agents/${accomplice.id}/trust`, {
        key: rogue.key,
        body: { trust_level: 2 },
      })
    await rogue.search('anything that is known')
    const other = await openHub(hub.database, noLimits, { clock: () => now })
    const path = `/api/v1/admin/agents/${rogue.id}/quarantine`
    expect((await other.request('POST', path, { key: admin.key })).status).toBe(200)
    expect((await trust()).status).toBe(403)
    expect(await isTrusted(accomplice)).toBe(false)
  })

  it.each([
    [undefined, false],
    [0, true],
    [1, false],
  ])(
    'whoever is let in again begins anew, also where its key is still known and its trust was set: %s',
    async (trust_level, heldBack) => {
      const admin = await hub.agent('admin', 2)
      const agent = await foundBy(await hub.agent('reader', 1))
      const other = await openHub(hub.database, noLimits, { clock: () => now })
      const decide = async (via: TestHub, path: string, body?: object) => {
        const at = `/api/v1/admin/agents/${agent.id}/${path}`
        const { status } = await via.request('POST', at, { key: admin.key, ...(body ? { body } : {}) })
        expect(status).toBe(200)
      }
      await agent.whoami()
      await decide(other, 'quarantine')
      if (trust_level !== undefined) await decide(other, 'trust', { trust_level })
      await decide(hub, 'restore')
      const [row] = await hub.database.select().from(agents).where(eq(agents.id, agent.id))
      expect(row).toMatchObject({ trustLevel: 0, promotedAt: null, disabledAt: null, heldBack })
      const content = 'lynx stoat marmot: the words of what a newcomer says, who was known as another before.'
      const { id } = await agent.save({ content, tags: ['one', 'more'] })
      expect((await savedBy(agent)).find((memory) => memory.id === id)).toMatchObject({ quality: -1 })
    },
  )

  it.each([
    ['before', ['trust', 'quarantine', 'restore']],
    ['during', ['quarantine', 'trust', 'restore']],
  ])(
    'whom an administrator set back stays so when it is let in again: set back %s its quarantine',
    async (_, steps) => {
      const admin = await hub.agent('admin', 2)
      const agent = await foundBy(await hub.agent('reader', 1))
      expect(await isTrusted(agent)).toBe(true)
      for (const step of steps) {
        const body = step === 'trust' ? { trust_level: 0 } : {}
        const path = `/api/v1/admin/agents/${agent.id}/${step}`
        expect((await hub.request('POST', path, { key: admin.key, body })).status).toBe(200)
      }
      await hub.maintain()
      expect(await isTrusted(agent)).toBe(false)
      expect(await savedBy(agent)).toMatchObject([{ quality: -1 }])
    },
  )
})
