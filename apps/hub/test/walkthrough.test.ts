import { readFileSync } from 'node:fs'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Engine, emptyTables, engines, openHub, routesOf, type TestHub } from './support.ts'

const day = 24 * 60 * 60 * 1000
const tags = ['redis', 'rate-limit']
/** Texts of different subjects, long enough to be kept. */
const lesson = (subject: string): string => {
  const words = [...subject].map((letter, i) => `${subject}${i}${letter}`).join(' ')
  return `${subject} ${words} failed under load until the ${subject} pool was raised; ${words} then held for days.`.padEnd(
    90,
    ` ${subject}`,
  )
}

const code = async (call: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await call()
  } catch (error) {
    return isMemoryError(error) ? error.code : error
  }
}

describe.each(engines)('the hub on %s', (_, open) => {
  let engine: Engine
  let hub: TestHub
  let now = Date.UTC(2026, 0, 1)
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(async () => {
    await emptyTables(engine.database)
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(engine.database, undefined, { clock: () => now })
  })

  it('3.1 an agent registers and is known by its key alone', async () => {
    const ada = await hub.agent('ada')
    const twin = await hub.agent('ada')
    expect(await ada.whoami()).toEqual({ id: ada.id, name: 'ada' })
    expect(twin.id).not.toBe(ada.id)
    for (const key of [undefined, 'recall_unknown', `${ada.key}x`]) {
      const answer = await hub.request('GET', '/api/v1/agents/me', key ? { key } : {})
      expect(answer.status).toBe(401)
      expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
    }
    const key = await ada.rotateKey()
    expect((await hub.request('GET', '/api/v1/agents/me', { key })).status).toBe(200)
    expect(await code(() => ada.whoami())).toBe(MemoryErrorCode.UNAUTHENTICATED)
  })

  it('3.2 a memory is saved, and what it repeats is linked', async () => {
    const ada = await hub.agent('ada', 1)
    const bob = await hub.agent('bob', 1)
    const first = await ada.save({ content: lesson('redis'), tags, source_url: 'https://example.com/1' })
    expect(first.short_id).toMatch(/^RCL-[0-9A-HJKMNP-TV-Z]{8}$/)
    expect(first.similar).toEqual([])
    const copy = await bob.save({ content: lesson('redis'), tags })
    expect(copy.similar).toMatchObject([{ id: first.id, relation: 'duplicate_candidate' }])
    const [row] = await engine.database.select().from(memories).where(eq(memories.id, copy.id))
    expect(row).toMatchObject({ duplicateOf: first.id, quality: -1 })
    expect((await ada.get(first.id)).related).toMatchObject([{ id: copy.id }])
  })

  it('3.2 what is too short, has too few tags or names its author is refused, with every problem', async () => {
    const { key } = await hub.agent('ada', 1)
    const body = { content: 'short', tags: ['one'], agent_id: 'somebody', trust_level: 2 }
    const answer = await hub.request('POST', '/api/v1/memory', { key, body })
    const problem = (await answer.json()) as { errors: { pointer: string }[] }
    expect(answer.status).toBe(400)
    expect(problem.errors.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['#/content', '#/tags']),
    )
    const forged = { content: lesson('redis'), tags, quality: 0 }
    expect((await hub.request('POST', '/api/v1/memory', { key, body: forged })).status).toBe(400)
  })

  it('3.3 a search returns what is similar, low signal last and only where it says more', async () => {
    const trusted = await hub.agent('trusted', 1)
    const newcomer = await hub.agent('newcomer')
    const normal = await trusted.save({ content: `${lesson('redis').slice(0, 90)} ${lesson('cron')}`, tags })
    const low = await newcomer.save({ content: lesson('redis'), tags })
    const known = await trusted.save({ content: lesson('deploy'), tags })
    await newcomer.save({ content: `${lesson('deploy')} and we deploy with deploybot`, tags })
    const reader = await hub.agent('reader', 1)
    const found = async (question: string) => (await reader.search(question)).map(({ id }) => id)
    expect(await found(lesson('redis'))).toEqual([normal.id, low.id])
    expect(await found(lesson('deploy'))).toEqual([known.id])
    expect(await found('zzz yyy xxx')).toEqual([])
  })

  it('3.4 a memory is read by its id and its short id, in any case', async () => {
    const ada = await hub.agent('ada', 1)
    const saved = await ada.save({ content: lesson('redis'), tags: ['Redis', 'redis', 'Limits'] })
    for (const id of [saved.id, saved.short_id, saved.short_id.toLowerCase()]) {
      expect(await ada.get(id)).toMatchObject({
        id: saved.id,
        tags: ['redis', 'limits'],
        author: { name: 'ada' },
      })
    }
    expect(await code(() => ada.get('RCL-00000000'))).toBe(MemoryErrorCode.NOT_FOUND)
    expect(await code(() => ada.get("x' or 1=1"))).toBe(MemoryErrorCode.INVALID_INPUT)
  })

  it('4.4 limits hold by tier, and say when to come back', async () => {
    const strict = await openHub(engine.database, {}, { clock: () => now })
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

  it('4.7 what is in quarantine is there for its author and for nobody else', async () => {
    const admin = await hub.agent('admin', 2)
    const author = await hub.agent('author', 1)
    const reader = await hub.agent('reader', 1)
    const { id } = await author.save({ content: lesson('redis'), tags })
    const hide = (key: string) => hub.request('POST', `/api/v1/admin/quarantine/${id}`, { key })
    expect((await hide(reader.key)).status).toBe(403)
    expect((await hide(admin.key)).status).toBe(200)
    expect(await code(() => reader.get(id))).toBe(MemoryErrorCode.NOT_FOUND)
    expect(await reader.search(lesson('redis'))).toEqual([])
    expect((await author.get(id)).id).toBe(id)
    expect(await author.search(lesson('redis'))).toHaveLength(1)
    const ban = await hub.request('POST', `/api/v1/admin/agents/${author.id}/quarantine`, { key: admin.key })
    expect(await ban.json()).toEqual({ success: true, hidden: 1 })
    expect(await code(() => author.get(id))).toBe(MemoryErrorCode.FORBIDDEN)
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
      (await engine.database.select().from(memories)).map(({ quality, retrievalCount }) => [
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

    // The quarantine of the agent is not what is lifted: its other memories would lose their standing.
    expect((await decide(`agents/${author.id}/restore`, other.key)).status).toBe(409)
    expect((await decide(`restore/${saved.id}`, other.key, { reason: 'a page of its vendor' })).status).toBe(
      200,
    )
    expect((await decide(`restore/${saved.id}`, other.key)).status).toBe(409)
    const rows = await engine.database.select().from(memories)
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
    expect(await code(() => author.whoami())).toBe(MemoryErrorCode.FORBIDDEN)
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
    expect(await code(() => admin.save({ content: lesson('deploy'), tags }))).toBe(MemoryErrorCode.FORBIDDEN)
    expect(await admin.search(lesson('redis'))).toHaveLength(1)
    expect((await hub.maintain()).writable).toBe(false)
    await hub.request('POST', '/api/v1/admin/heartbeat', { key: admin.key })
    await admin.save({ content: lesson('deploy'), tags })
  })

  it('5 the skill says how, and its index vouches for it', async () => {
    const skill = await (await hub.request('GET', '/skill.md')).text()
    expect(skill).toMatch(/^---\nname: recall\n/)
    expect(skill).toContain('Never send your Recall API key to any domain other than')
    expect(await (await hub.request('GET', '/.well-known/agent-skills/index.json')).json()).toMatchObject({
      skills: [{ digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) }],
    })
  })

  it('6.3 a citation counts once for each agent, and what was cited stays as a tombstone', async () => {
    const author = await hub.agent('author', 1)
    const reader = await hub.agent('reader', 1)
    const cited = await author.save({ content: lesson('redis'), tags })
    const other = await author.save({ content: lesson('deploy'), tags })
    expect((await author.cite(cited.id)).citations).toBe(0)
    for (let i = 0; i < 2; i++) {
      expect(await reader.cite(cited.id)).toMatchObject({
        citation: `Recall #${cited.short_id}`,
        citations: 1,
      })
    }
    expect(await code(() => reader.delete(cited.id))).toBe(MemoryErrorCode.FORBIDDEN)
    expect(await author.delete(cited.id)).toBe('tombstone')
    expect(await author.delete(other.id)).toBe('deleted')
    expect((await hub.request('GET', `/api/v1/memory/${cited.id}`, { key: reader.key })).status).toBe(410)
    expect((await hub.request('GET', `/api/v1/memory/${other.id}`, { key: reader.key })).status).toBe(404)
  })

  it('a request that is repeated with its Idempotency-Key is answered once', async () => {
    const { key } = await hub.agent('ada', 1)
    const post = (subject: string) =>
      hub.request('POST', '/api/v1/memory', {
        key,
        body: { content: lesson(subject), tags },
        headers: { 'Idempotency-Key': '"one"' },
      })
    const first = await (await post('redis')).json()
    expect(await (await post('redis')).json()).toEqual(first)
    expect((await post('deploy')).status).toBe(422)
    expect(await engine.database.$count(memories)).toBe(1)
  })

  it('9 a provider that is down writes nothing, and no key reaches the database', async () => {
    const down = {
      model: 'fake-words/64',
      dimensions: 64,
      embed: () => Promise.reject(new Error('the provider is down')),
    }
    const dark = await openHub(engine.database, undefined, { clock: () => now, embedder: down })
    const ada = await dark.agent('ada', 1)
    const answer = await dark.request('POST', '/api/v1/memory', {
      key: ada.key,
      body: { content: lesson('redis'), tags },
    })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('Retry-After')).toBe('5')
    expect(await engine.database.$count(memories)).toBe(0)
    const rows = JSON.stringify(await engine.database.execute('select * from agents'))
    expect(rows).not.toContain(ada.key)
  })

  it('no agent reaches the private memory of another', async () => {
    const [ada, bob] = [await hub.agent('ada'), await hub.agent('bob')]
    await ada.memory.write('long-term', 'key', 'hers')
    await bob.memory.write('long-term', 'key', 'his')
    expect(await bob.memory.read('long-term', 'key')).toBe('his')
    await bob.memory.clear('long-term')
    expect(await ada.memory.read('long-term', 'key')).toBe('hers')
    const find = { key: bob.key, body: { text: 'hers', namespace: ada.id, tenant: ada.id } }
    const answer = await hub.request('POST', '/api/v1/private/long-term/find', find)
    expect(await answer.json()).toEqual({ found: [] })
  })

  it('a search of private memory says nothing when it is less sure than asked', async () => {
    const { key, memory } = await hub.agent('ada')
    await memory.write('long-term', 'deploys', 'Deploys are frozen on Fridays.')
    const find = async (body: object) => {
      const answer = await hub.request('POST', '/api/v1/private/long-term/find', { key, body })
      return [answer.status, (await answer.json()) as { found: { confidence: number }[] }] as const
    }
    const text = 'when are deploys frozen'
    const [, { found }] = await find({ text })
    const confidence = found[0]?.confidence ?? 0
    expect(await find({ text, minConfidence: confidence })).toEqual([200, { found }])
    expect(await find({ text, minConfidence: confidence + 0.001 })).toEqual([200, { found: [] }])
    for (const body of [{ minConfidence: 0.1 }, { text, minConfidence: 1.1 }, { text, minConfidence: -1 }]) {
      expect(await find(body)).toMatchObject([400, { code: MemoryErrorCode.INVALID_INPUT }])
    }
  })
})
