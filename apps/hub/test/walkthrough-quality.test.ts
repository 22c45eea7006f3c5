import { readFileSync } from 'node:fs'
import { MemoryErrorCode } from '@recall/core'
import { memories, retrievalEvents, systemConfig } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { degrees } from './support/degrees.ts'
import { codeOf, engines, lesson, noLimits, openHub, routesOf, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const day = 24 * 60 * 60 * 1000
const tags = ['redis', 'rate-limit']

describe.each(engines)('the hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let now = Date.UTC(2026, 0, 1)
  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), undefined, { clock: () => now })
  })

  it('4.1 a memory is shown to whoever asks for something like it, and in no feed', async () => {
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const { id } = await ada.save({ content: lesson('redis'), tags })
    expect((await bob.search(lesson('redis'))).map((memory) => memory.id)).toEqual([id])
    expect(await bob.search(lesson('kafka'))).toEqual([])
    const reads = (await routesOf(hub)).filter(([method, path]) => method === 'GET' && /memory/.test(path))
    expect(reads.map(([, path]) => path).toSorted()).toEqual([
      '/api/v1/admin/memory/{id}',
      '/api/v1/memory/search',
      '/api/v1/memory/{id}',
    ])
    for (const [path, status] of [
      ['memory', 405],
      ['memory/search', 400],
      ['memory/search?q=', 400],
      ['memory/search?q=%20', 400],
      ['memory/search?q=%E2%80%8B', 400],
    ] as const) {
      expect((await hub.request('GET', `/api/v1/${path}`, { key: bob.key })).status, path).toBe(status)
    }
  })

  it('4.2 a result is as similar as the gate asks for, and weak writes are taken but rarely shown', async () => {
    hub = await openHub(database(), undefined, { clock: () => now, embedder: degrees })
    const [ada, newcomer] = [await hub.agent('ada', 1), await hub.agent('newcomer')]
    const good = await ada.save({ content: degrees.text(0), tags })
    const found = async (angle: number) => (await ada.search(`${angle} degrees`)).map(({ id }) => id)
    // The cosine of 56.6 degrees is 0.55.
    expect(await found(56)).toEqual([good.id])
    expect(await found(57)).toEqual([])
    const weak = await newcomer.save({ content: degrees.text(90), tags })
    expect(await found(90)).toEqual([weak.id])
    // Something good is about as near: the weak one does not surface.
    expect(await found(46)).toEqual([good.id])
  })

  it('4.3 a memory takes 80 characters and two to six tags, and is better with more and with a source', async () => {
    const { key } = await hub.agent('ada', 1)
    const save = async (length: number, tagCount: number, source_url?: string) => {
      const content = lesson('redis').repeat(5).slice(0, length).trim().padEnd(length, '.')
      const body = { content, tags: Array.from({ length: tagCount }, (_, i) => `tag ${i}`), source_url }
      const answer = await hub.request('POST', '/api/v1/memory', { key, body })
      const { warnings = [] } = (await answer.json()) as { warnings?: string[] }
      return [answer.status, ...warnings.map((warning) => /shorter|source_url/.exec(warning)?.[0])]
    }
    const source = 'https://example.com/42'
    expect(await save(79, 2)).toEqual([400])
    expect(await save(80, 2)).toEqual([201, 'shorter', 'source_url'])
    expect(await save(199, 2, source)).toEqual([201, 'shorter'])
    expect(await save(200, 2, source)).toEqual([201])
    expect(await save(200, 1, source)).toEqual([400])
    expect(await save(200, 6, source)).toEqual([201])
    expect(await save(200, 7, source)).toEqual([400])
    expect(await save(200, 2, 'ftp://example.com')).toEqual([400])
  })

  it.each([
    ['zero-width spaces', '\u200b'.repeat(100), 400],
    ['blanks between two letters', `a${' '.repeat(200)}b`, 400],
    ['lines and marks that nobody sees', `a${'\n\u2800\u00ad\u0001'.repeat(60)}b`, 400],
    ['two tokens', ['a1B2', 'c3D4'].map((part) => `${'ghp_'}${part.repeat(9)}`).join(' '), 400],
    ['79 letters', 'é'.repeat(79), 400],
    ['80 letters', 'é'.repeat(80), 201],
    ['40 words of one letter', 'a '.repeat(40).concat('b'), 201],
  ])('4.3 a memory is as long as what of it is kept and can be seen: %s', async (_, content, status) => {
    const { key } = await hub.agent('ada', 1)
    const answer = await hub.request('POST', '/api/v1/memory', { key, body: { content, tags } })
    const said = await answer.json()
    expect([answer.status, said]).toMatchObject([
      status,
      status === 201
        ? { warnings: [expect.stringContaining('shorter'), expect.stringContaining('source_url')] }
        : { errors: [{ pointer: '#/content', detail: expect.stringContaining('at least 80 visible') }] },
    ])
  })

  it('4.3 tags are counted as they are kept: two secrets of a kind are one', async () => {
    const { key } = await hub.agent('ada', 1)
    const tokens = ['a1B2', 'c3D4'].map((part) => `${'ghp_'}${part.repeat(9)}`)
    const save = async (...given: string[]) => {
      const body = { content: lesson('redis').repeat(3), tags: given }
      const answer = await hub.request('POST', '/api/v1/memory', { key, body })
      return [answer.status, await answer.json()]
    }
    const detail = 'must be at least 2, without repetitions'
    expect(await save(...tokens)).toMatchObject([400, { errors: [{ pointer: '#/tags', detail }] }])
    expect(await save(...tokens, 'leak')).toMatchObject([201, {}])
  })

  it('4.4 limits hold by tier, and say when to come back', async () => {
    const strict = await openHub(database(), {}, { clock: () => now })
    const ada = await strict.agent('ada')
    const write = (subject: string) =>
      strict.request('POST', '/api/v1/memory', { key: ada.key, body: { content: lesson(subject), tags } })
    const first = await write('redis')
    expect(first.status).toBe(201)
    expect(first.headers.get('RateLimit-Policy')).toBe('"minute";q=1;w=60, "day";q=2;w=86400')
    const second = await write('deploy')
    expect(second.status).toBe(429)
    expect(Number(second.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(second.headers.get('RateLimit')).toContain('"minute";r=0')
    expect(await second.json()).toMatchObject({
      code: MemoryErrorCode.RATE_LIMITED,
      'violated-policies': ['minute'],
    })
  })

  it.each([
    { tier: 0, write: '"minute";q=1;w=60, "day";q=2;w=86400', search: 60, read: 300 },
    { tier: 1, write: '"minute";q=5;w=60, "day";q=50;w=86400', search: 120, read: 300 },
    { tier: 2, write: '"minute";q=10;w=60, "day";q=200;w=86400', search: 120, read: 300 },
  ] as const)('4.4 tier $tier has limits of its own', async ({ tier, write, search, read }) => {
    const strict = await openHub(database(), {}, { clock: () => now })
    const ada = await strict.agent('ada', tier)
    const policyOf = async (method: string, path: string, body?: object): Promise<string | null> => {
      const answer = await strict.request(method, `/api/v1/${path}`, { key: ada.key, ...(body && { body }) })
      return answer.headers.get('RateLimit-Policy')
    }
    expect(await policyOf('POST', 'memory', { content: lesson('redis'), tags })).toBe(write)
    expect(await policyOf('GET', 'memory/search?q=redis+pool')).toBe(`"minute";q=${search};w=60`)
    expect(await policyOf('GET', 'memory/RCL-YGDQJYXD')).toBe(`"minute";q=${read};w=60`)
  })

  it('4.4 asking who one is, getting another key and repeating a request are limited as reads', async () => {
    const one = [{ requests: 1, seconds: 60 }]
    const { tiers } = noLimits.limits
    const limits = { ...noLimits.limits, tiers: { ...tiers, unverified: { ...tiers.unverified, get: one } } }
    const strict = await openHub(database(), { limits }, { clock: () => now })
    const statusesOf = async (agent: string, method: string, path: string, given = {}) => {
      const { key } = await strict.agent(agent)
      const ask = () => strict.request(method, `/api/v1/${path}`, { key, ...given })
      return [(await ask()).status, (await ask()).status, (await ask()).status]
    }
    expect(await statusesOf('ada', 'GET', 'agents/me')).toEqual([200, 429, 429])
    expect(await statusesOf('bob', 'POST', 'agents/me/rotate-key')).toEqual([200, 429, 429])
    const again = { body: { content: lesson('redis'), tags }, headers: { 'Idempotency-Key': 'a' } }
    expect(await statusesOf('cyd', 'POST', 'memory', again)).toEqual([201, 201, 429])
  })

  it('4.5 what is near is linked, what is very near is a candidate, and what is the same is a duplicate', async () => {
    hub = await openHub(database(), undefined, { clock: () => now, embedder: degrees })
    const ada = await hub.agent('ada', 1)
    const saved = new Map<string, number>()
    const save = async (angle: number) => {
      const { id, similar } = await ada.save({ content: degrees.text(angle), tags })
      saved.set(id, angle)
      const [row] = await database().select().from(memories).where(eq(memories.id, id))
      return {
        similar: similar.map((link) => [saved.get(link.id), link.relation]),
        duplicateOf: row?.duplicateOf ? saved.get(row.duplicateOf) : null,
        quality: row?.quality,
      }
    }
    expect(await save(0)).toEqual({ similar: [], duplicateOf: null, quality: 0 })
    expect(await save(130)).toEqual({ similar: [], duplicateOf: null, quality: 0 })
    // Cosines: 0.94 of 20 degrees, 0.82 of 35, 0.98 of 10, 0.87 of 30, 0.91 of 25.
    expect(await save(20)).toEqual({ similar: [[0, 'duplicate_candidate']], duplicateOf: null, quality: 0 })
    expect(await save(-35)).toEqual({ similar: [[0, 'similar']], duplicateOf: null, quality: 0 })
    expect(await save(-10)).toEqual({
      similar: [
        [0, 'duplicate_candidate'],
        [-35, 'similar'],
        [20, 'similar'],
      ],
      duplicateOf: 0,
      quality: -1,
    })
  })

  it('4.6 what a search returns is noted, counts once for each agent, and what is never of use ranks below', async () => {
    const [admin, author, reader] = [
      await hub.agent('admin', 2),
      await hub.agent('author', 1),
      await hub.agent('reader', 1),
    ]
    const used = await author.save({ content: lesson('redis'), tags })
    const unused = await author.save({ content: lesson('kafka'), tags })
    for (let i = 0; i < 2; i++) await reader.search(lesson('redis'))
    const events = await database().select().from(retrievalEvents)
    expect(events).toMatchObject(
      [0, 1].map(() => ({
        agentId: reader.id,
        memoryId: used.id,
        query: lesson('redis'),
        createdAt: new Date(now),
      })),
    )
    for (const { similarity } of events) expect(similarity).toBeCloseTo(1, 3)
    expect((await author.search(lesson('redis')))[0]?.retrieval_count).toBe(1)

    const recompute = async () => {
      const answer = await hub.request('POST', '/api/v1/admin/recompute-quality', { key: admin.key })
      const rows = await database().select().from(memories)
      const qualities = [used.id, unused.id].map((id) => rows.find((row) => row.id === id)?.quality)
      return { ...((await answer.json()) as object), qualities }
    }
    now += 90 * day
    expect(await recompute()).toEqual({ success: true, lowered: 0, raised: 0, qualities: [0, 0] })
    now += 1
    expect(await recompute()).toEqual({ success: true, lowered: 1, raised: 0, qualities: [0, -1] })
    await reader.search(lesson('kafka'))
    expect(await recompute()).toEqual({ success: true, lowered: 0, raised: 1, qualities: [0, 0] })
  })

  it('4.7 what is in quarantine is there for its author and for nobody else', async () => {
    const admin = await hub.agent('admin', 2)
    const author = await hub.agent('author', 1)
    const reader = await hub.agent('reader', 1)
    const { id } = await author.save({ content: lesson('redis'), tags })
    const hide = (key: string) => hub.request('POST', `/api/v1/admin/quarantine/${id}`, { key })
    expect((await hide(reader.key)).status).toBe(403)
    expect((await hide(admin.key)).status).toBe(200)
    expect(await codeOf(() => reader.get(id))).toBe(MemoryErrorCode.NOT_FOUND)
    expect(await reader.search(lesson('redis'))).toEqual([])
    expect((await author.get(id)).id).toBe(id)
    expect(await author.search(lesson('redis'))).toHaveLength(1)
    const ban = await hub.request('POST', `/api/v1/admin/agents/${author.id}/quarantine`, { key: admin.key })
    expect(await ban.json()).toEqual({ success: true, hidden: 1 })
    expect(await codeOf(() => author.get(id))).toBe(MemoryErrorCode.FORBIDDEN)
  })

  it('4.8 an agent is promoted by what trusted agents use, and by nothing of its own or of its friends', async () => {
    const newcomer = await hub.agent('newcomer')
    const subjects = ['redis', 'deploy', 'kafka', 'nginx', 'cron']
    for (const subject of subjects) await newcomer.save({ content: lesson(subject), tags })
    const friends = [await hub.agent('friend'), await hub.agent('friend')]
    const searchAll = async (agent: { search(question: string): Promise<unknown[]> }) => {
      for (const subject of subjects) expect(await agent.search(lesson(subject))).not.toEqual([])
    }
    for (const agent of [newcomer, ...friends]) await searchAll(agent)
    const quality = async () =>
      (await database().select().from(memories)).map(({ quality, retrievalCount }) => [
        quality,
        retrievalCount,
      ])
    expect(await quality()).toEqual(subjects.map(() => [-1, 0]))
    const trusted = await hub.agent('trusted', 1)
    await searchAll(trusted)
    await searchAll(trusted)
    expect(await quality()).toEqual(subjects.map(() => [0, 1]))
  })

  it('4.8 an administrator reads, notes why, decides, and takes it back for one memory alone', async () => {
    const [admin, other] = [await hub.agent('first', 2), await hub.agent('second', 2)]
    const author = await hub.agent('author', 1)
    const saved = await author.save({ content: lesson('redis'), tags })
    const kept = await author.save({ content: lesson('kafka'), tags })
    const decide = (path: string, key: string, body?: object) =>
      hub.request('POST', `/api/v1/admin/${path}`, { key, ...(body ? { body } : {}) })
    const review = async (path: string) => {
      const answer = await hub.request('GET', `/api/v1/admin/${path}`, { key: other.key })
      return answer.status === 200 ? await answer.json() : answer.status
    }
    const because = { reason: `steers agents\nto a page, says ${'ghp_'}${'a1B2'.repeat(9)}` }
    for (let i = 0; i < 2; i++) await decide(`quarantine/${saved.short_id}`, admin.key, because)

    // Another administrator judges the contest: who wrote it, what it says, why it is hidden, and by whom.
    const { memory } = (await review(`memory/${saved.short_id.toLowerCase()}`)) as {
      memory: { author: { notes: string[] } }
    }
    expect(memory).toMatchObject({
      id: saved.id,
      content: lesson('redis'),
      quality: -2,
      author: { id: author.id, name: 'author', quarantines: 1 },
    })
    expect(memory.author.notes).toHaveLength(2)
    expect(memory.author.notes[0]).toMatch(
      new RegExp(
        `^2026-01-01T\\S+ ${saved.short_id} put in quarantine by first .${admin.id}.: steers agents to a page, says `,
      ),
    )
    expect(JSON.stringify(memory)).not.toContain('ghp_a1B2')
    expect(JSON.stringify(await author.get(saved.id))).not.toContain('steers')
    expect(await review('agents?name=author')).toMatchObject({ agents: [{ id: author.id }] })
    expect(await review(`agents/${author.id}`)).toMatchObject({
      agent: { memories: expect.arrayContaining([expect.objectContaining({ id: saved.id, quality: -2 })]) },
    })
    expect(await review(`memory/${crypto.randomUUID()}`)).toBe(404)
    expect(await review(`agents/${crypto.randomUUID()}`)).toBe(404)

    const nobody = `agents/${crypto.randomUUID()}`
    for (const [path, body] of [
      [`${nobody}/quarantine`],
      [`${nobody}/restore`],
      [`${nobody}/trust`, { trust_level: 1 }],
      ['quarantine/RCL-00000000'],
      ['restore/RCL-00000000'],
    ] as [string, object?][])
      expect([path, (await decide(path, admin.key, body)).status]).toEqual([path, 404])

    // The quarantine of the agent is not what is lifted: its other memories would lose their standing.
    expect((await decide(`agents/${author.id}/restore`, other.key)).status).toBe(409)
    expect((await decide(`restore/${saved.id}`, other.key, { reason: 'a page of its vendor' })).status).toBe(
      200,
    )
    expect((await decide(`restore/${saved.id}`, other.key)).status).toBe(409)
    const rows = await database().select().from(memories)
    expect(rows.map(({ id, quality }) => [id, quality]).toSorted()).toEqual(
      [
        [saved.id, 0],
        [kept.id, 0],
      ].toSorted(),
    )
    expect(await review(`agents/${author.id}`)).toMatchObject({ agent: { quarantines: 0 } })

    // A reason in a body that is not read would be lost.
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const unread = { key: admin.key, body: 'reason=x', headers: form }
    expect((await hub.request('POST', `/api/v1/admin/quarantine/${kept.id}`, unread)).status).toBe(415)
  })

  it('4.8 an agent that contests comes back at tier 0, and what it wants gone is deleted', async () => {
    const admin = await hub.agent('admin', 2)
    const author = await hub.agent('author', 1)
    const saved = await author.save({ content: lesson('redis'), tags })
    const path = `/api/v1/admin/agents/${author.id}`
    const decide = async (action: string, body?: object) =>
      (await hub.request('POST', `${path}/${action}`, { key: admin.key, ...(body ? { body } : {}) })).status
    const look = async () => {
      const answer = await hub.request('GET', path, { key: admin.key })
      return ((await answer.json()) as { agent: { disabled_at: string | null; notes: string[] } }).agent
    }
    expect(await decide('quarantine', { reason: 'a flood' })).toBe(200)
    expect(await look()).toMatchObject({ trust_level: 0, disabled_at: expect.any(String), quarantines: 1 })
    expect(await codeOf(() => author.whoami())).toBe(MemoryErrorCode.FORBIDDEN)
    const gone = await hub.request('DELETE', `/api/v1/admin/memory/${saved.id}`, { key: admin.key })
    expect(await gone.json()).toEqual({ success: true, status: 'deleted' })
    expect(await decide('restore')).toBe(200)
    expect(await decide('trust', { trust_level: 1, reason: 'known from elsewhere' })).toBe(200)
    const after = await look()
    expect(after).toMatchObject({ trust_level: 1, disabled_at: null, quarantines: 0, memories: [] })
    expect(after.notes.map((note) => note.split(/ by admin \([\da-f-]+\)/))).toEqual([
      [expect.stringContaining('agent put in quarantine'), ': a flood'],
      [expect.stringContaining(`${saved.short_id} deleted`), ': its author asked for it'],
      [expect.stringContaining('agent restored'), ''],
      [expect.stringContaining('trust set to 1'), ': known from elsewhere'],
    ])
    expect((await author.whoami()).id).toBe(author.id)
  })

  it('4.8 the page on governance names every call of an administrator, and no other', async () => {
    const page = readFileSync(new URL('../../../docs/governance.md', import.meta.url), 'utf8')
    const methods = { look: 'GET', admin: 'POST', DELETE: 'DELETE' }
    const named = [
      ...page.matchAll(/^\|.*\| `(look|admin|DELETE) '?(?:\/api\/v1\/admin\/)?([^ '?`]+)/gm),
    ].map(
      ([, verb, path = '']) =>
        `${methods[verb as keyof typeof methods]} ${path.replace(/<id>|RCL-8F3K2A9Q/, '{id}')}`,
    )
    const known = (await routesOf(hub)).flatMap(([method, path]) => {
      const [, call] = path.split('/api/v1/admin/')
      return call ? [`${method} ${call}`] : []
    })
    expect(named.toSorted()).toEqual(known.toSorted())
  })

  it('4.8 without a heartbeat the hub reads only, until an administrator is back', async () => {
    const admin = await hub.agent('admin', 2)
    now += 30 * day - 1
    await admin.save({ content: lesson('redis'), tags })
    now += 1
    expect(await codeOf(() => admin.save({ content: lesson('deploy'), tags }))).toBe(
      MemoryErrorCode.FORBIDDEN,
    )
    expect(await admin.search(lesson('redis'))).toHaveLength(1)
    expect((await hub.maintain()).writable).toBe(false)
    expect(await database().select().from(systemConfig)).toMatchObject([{ globalWriteEnabled: false }])
    const confirmed = await hub.request('POST', '/api/v1/admin/heartbeat', { key: admin.key })
    expect(await confirmed.json()).toEqual({
      success: true,
      last_heartbeat_at: new Date(now).toISOString(),
    })
    await admin.save({ content: lesson('deploy'), tags })

    // Also whoever has the database may switch writes off.
    await database().update(systemConfig).set({ globalWriteEnabled: false })
    expect(await codeOf(() => admin.save({ content: lesson('nginx'), tags }))).toBe(MemoryErrorCode.FORBIDDEN)
  })
})
