import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Engine, emptyTables, engines, openHub, type TestHub } from './support.ts'

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
    expect(await code(() => ada.whoami())).toBe(MemoryErrorCode.UNAUTHENTICATED)
    expect((await hub.request('GET', '/api/v1/agents/me', { key })).status).toBe(200)
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
