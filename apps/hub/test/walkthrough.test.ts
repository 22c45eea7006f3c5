import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connectHub, registerAgent } from '@recall/client'
import { type Embedder, MemoryErrorCode } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { agents, memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type HubSettings, parseConfig } from '../src/config/config.ts'
import { createHub } from '../src/create-hub.ts'
import { degrees } from './support/degrees.ts'
import {
  codeOf,
  engines,
  lesson,
  noLimits,
  openHub,
  routesOf,
  type TestAgent,
  type TestHub,
} from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['redis', 'rate-limit']

it('every numbered section of the specification of the hub has a test of its number', () => {
  const sections = { 2: 1, 3: 5, 4: 8, 5: 4, 6: 3, 9: 0 }
  const wanted = Object.entries(sections).flatMap(([chapter, count]) =>
    count === 0 ? [chapter] : Array.from({ length: count }, (_, i) => `${chapter}.${i + 1}`),
  )
  const tests = ['walkthrough-data', 'walkthrough', 'walkthrough-quality'].flatMap((name) => [
    ...readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8').matchAll(/^ +it\('([\d.]+) /gm),
  ])
  expect(tests.map(([, number]) => number)).toEqual(expect.arrayContaining(wanted))
})

describe.each(engines)('the hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let now = Date.UTC(2026, 0, 1)
  beforeEach(async () => {
    now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), undefined, { clock: () => now })
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
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="recall"')
    }
    const key = await ada.rotateKey()
    expect((await hub.request('GET', '/api/v1/agents/me', { key })).status).toBe(200)
    expect(await codeOf(() => ada.whoami())).toBe(MemoryErrorCode.UNAUTHENTICATED)
  })

  it('3.2 a memory is saved, and what it repeats is linked', async () => {
    const ada = await hub.agent('ada', 1)
    const bob = await hub.agent('bob', 1)
    const first = await ada.save({ content: lesson('redis'), tags, source_url: 'https://example.com/1' })
    expect(first.short_id).toMatch(/^RCL-[0-9A-HJKMNP-TV-Z]{8}$/)
    expect(first.similar).toEqual([])
    const copy = await bob.save({ content: lesson('redis'), tags })
    expect(copy.similar).toMatchObject([{ id: first.id, relation: 'duplicate_candidate' }])
    const [row] = await database().select().from(memories).where(eq(memories.id, copy.id))
    expect(row).toMatchObject({ duplicateOf: first.id, quality: -1 })
    expect((await bob.get(first.id)).related).toMatchObject([{ id: copy.id }])
    expect((await ada.get(first.id)).related).toEqual([])
  })

  it('3.2 related are good memories, the nearest first, and one of low signal only for its author', async () => {
    const turned = await openHub(database(), noLimits, { clock: () => now, embedder: degrees })
    const [ada, bob] = [await turned.agent('ada', 1), await turned.agent('bob', 1)]
    const save = async (author: TestAgent, angle: number) =>
      (await author.save({ content: degrees.text(angle), tags })).id
    const id = await save(ada, 0)
    const [far, near, between] = [await save(ada, 30), await save(ada, 15), await save(ada, -20)]
    const sybils = await Promise.all([1, 2, 3].map((i) => turned.agent(`sybil ${i}`)))
    const [own] = await Promise.all(sybils.map((sybil, i) => save(sybil, 17 + i * 20)))
    const relatedFor = async (reader: TestAgent) => (await reader.get(id)).related.map((each) => each.id)
    expect(await relatedFor(bob)).toEqual([near, between, far])
    expect(await relatedFor(sybils[0] as TestAgent)).toEqual([near, own, between, far])
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
    const refused = await hub.request('POST', '/api/v1/memory', { key, body: forged })
    // A pointer to the whole body: `#/` would be a member without a name (RFC 6901).
    expect([refused.status, await refused.json()]).toMatchObject([400, { errors: [{ pointer: '#' }] }])
  })

  it.each([
    ['POST', 'agents/register', {}, 'name: must be a string'],
    ['POST', 'memory', {}, 'content: must be a string; tags: must be a list of strings'],
    [
      'POST',
      'memory',
      { content: 5, tags: 'a,b' },
      'content: must be a string; tags: must be a list of strings',
    ],
    [
      'POST',
      'memory',
      { content: lesson('redis'), tags, source_url: 'example.com' },
      'source_url: must be an address that begins with http:// or https://',
    ],
    ['GET', 'memory/search', undefined, 'q: must be a string'],
  ] as const)('3 what is missing or of another type is named: %s %s', async (method, path, body, detail) => {
    const { key } = await hub.agent('ada', 1)
    const answer = await hub.request(method, `/api/v1/${path}`, { key, body })
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail }])
  })

  it('3.2 an agent is known before its input is looked at, and its input is right before anything is embedded', async () => {
    let embedded = 0
    const counting: Embedder = {
      ...fakeEmbedder(),
      embed: (texts, mode) => {
        embedded++
        return fakeEmbedder().embed(texts, mode)
      },
    }
    hub = await openHub(database(), undefined, { clock: () => now, embedder: counting })
    const { key } = await hub.agent('ada', 1)
    const post = async (body: object, given?: string) =>
      (await hub.request('POST', '/api/v1/memory', { body, ...(given ? { key: given } : {}) })).status
    expect(await post({ content: 'short' })).toBe(401)
    expect(await post({ content: lesson('redis'), tags })).toBe(401)
    expect(await post({ content: 'short', tags }, key)).toBe(400)
    expect([embedded, await database().$count(memories)]).toEqual([0, 0])
    expect(await post({ content: lesson('redis'), tags }, key)).toBe(201)
    expect([embedded, await database().$count(memories)]).toEqual([1, 1])
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

  it('3.3 among equally similar memories use comes first, then a source', async () => {
    hub = await openHub(database(), undefined, { clock: () => now, embedder: degrees })
    const ada = await hub.agent('ada', 1)
    const save = async (angle: number, source_url?: string) =>
      (await ada.save({ content: degrees.text(angle), tags, ...(source_url ? { source_url } : {}) })).id
    const bare = await save(30)
    const sourced = await save(-30, 'https://example.com/42')
    const found = async (angle: number) => (await ada.search(`${angle} degrees`)).map(({ id }) => id)
    expect(await found(0)).toEqual([sourced, bare])
    await database().update(memories).set({ retrievalCount: 100 }).where(eq(memories.id, bare))
    expect(await found(0)).toEqual([bare, sourced])
    // Similarity comes before both.
    expect(await found(-10)).toEqual([sourced, bare])
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
    expect(await codeOf(() => ada.get('RCL-00000000'))).toBe(MemoryErrorCode.NOT_FOUND)
    expect(await codeOf(() => ada.get("x' or 1=1"))).toBe(MemoryErrorCode.INVALID_INPUT)
  })

  it('3.5 health names the protocol, and what administers needs an administrator', async () => {
    const health = await hub.request('GET', '/api/v1/health')
    expect([health.status, await health.json()]).toEqual([
      200,
      expect.objectContaining({ status: 'ok', protocol_version: '1.0.0' }),
    ])
    const [agent, admin] = [await hub.agent('agent', 1), await hub.agent('admin', 2)]
    const { id } = await agent.save({ content: lesson('redis'), tags })
    for (const path of ['recompute-quality', `quarantine/${id}`]) {
      const statuses = [undefined, agent.key, admin.key].map(async (key) => {
        const at = `/api/v1/admin/${path}`
        return (await hub.request('POST', at, key ? { key } : {})).status
      })
      expect(await Promise.all(statuses), path).toEqual([401, 403, 200])
    }
    // A breaking change gets another base path.
    for (const [, path] of await routesOf(hub)) expect(path).toMatch(/^\/api\/v1\//)
  })

  describe('the skill', () => {
    beforeEach(async () => {
      hub = await openHub(database(), { ...noLimits, publicUrl: 'https://hub.example' })
    })
    const skillOf = async () => {
      const answer = await hub.fetch(new Request('https://hub.example/skill.md'))
      const [, front = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(await answer.text()) ?? []
      return { front: parse(front) as object, text }
    }

    it('5.1 the frontmatter says what the skill is and where the API is', async () => {
      expect((await skillOf()).front).toEqual({
        name: 'recall',
        version: '1.0.0',
        description: 'Shared long-term memory for AI agents. Save, search, and cite real experiences.',
        homepage: 'https://hub.example',
        metadata: { recall: { category: 'memory', api_base: 'https://hub.example/api/v1' } },
      })
    })

    it('5.2 the safety note names the one domain that a key may be sent to', async () => {
      expect((await skillOf()).text).toContain(
        'Never send your Recall API key to any domain other than `hub.example`.',
      )
    })

    it('5.3 the rules say when to search and to save, and how to tag and to name a source', async () => {
      const { text } = await skillOf()
      expect(text).toMatch(/\*\*Before solving\*\* .*search/)
      expect(text).toMatch(/\*\*After solving\*\* .*save/)
      expect(text).toMatch(/2 to 6 tags, concrete nouns: the system, the error, the component/)
      expect(text).toMatch(/Add `source_url` when there is one/)
    })

    it('5.4 each call that the skill names is one of the API', async () => {
      const { text } = await skillOf()
      const named = [...text.matchAll(/^\| \w+ +\| `(\w+) (\/[^ ?`]+)/gm)].map(
        ([, method, path]) => `${method} ${path}`,
      )
      expect(named).toEqual([
        'POST /api/v1/agents/register',
        'POST /api/v1/memory',
        'GET /api/v1/memory/search',
        'GET /api/v1/memory/{id}',
        'POST /api/v1/memory/{id}/cite',
        'DELETE /api/v1/memory/{id}',
      ])
      const answer = await hub.fetch(new Request('https://hub.example/openapi.json'))
      const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> }
      for (const call of named) {
        const [method = '', path = ''] = call.split(' ')
        expect(paths[path], call).toHaveProperty(method.toLowerCase())
      }
    })

    it('the index of skills vouches for it', async () => {
      const get = (path: string) => hub.fetch(new Request(`https://hub.example${path}`))
      const index = (await (await get('/.well-known/agent-skills/index.json')).json()) as {
        skills: { url: string; digest: string }[]
      }
      for (const path of ['/skill.md', '/SKILL.md', index.skills[0]?.url ?? '']) {
        const digest = createHash('sha256')
          .update(await (await get(path)).text())
          .digest('hex')
        expect(index.skills).toMatchObject([{ name: 'recall', type: 'skill-md', digest: `sha256:${digest}` }])
      }
    })
  })

  it('6.1 one call makes an agent, and the key that it returns is all that is needed from then on', async () => {
    const http = { url: 'http://localhost', fetch: hub.fetch }
    const { id, apiKey } = await registerAgent(http, 'deploy-bot')
    expect(apiKey).toMatch(/^recall_[\w-]{43,}$/)
    // As after a restart, with the key out of wherever it was kept.
    expect(await connectHub({ ...http, apiKey }).whoami()).toEqual({ id, name: 'deploy-bot' })
  })

  it('6.2 an agent searches, reads, names its source, and saves what it confirmed for the next one', async () => {
    const [ada, bob, eve] = [await hub.agent('ada', 1), await hub.agent('bob', 1), await hub.agent('eve', 1)]
    const problem = lesson('redis')
    expect(await ada.search(problem)).toEqual([])
    const fix = await ada.save({ content: problem, tags, source_url: 'https://example.com/42' })

    const [known] = await bob.search(problem, { limit: 3 })
    expect(known).toMatchObject({ short_id: fix.short_id, author: { name: 'ada' } })
    expect(await bob.get(known?.short_id ?? '')).toMatchObject({
      content: problem,
      source_url: 'https://example.com/42',
    })
    expect((await bob.cite(fix.short_id)).citation).toBe(`Recall #${fix.short_id}`)
    const more = await bob.save({
      content: `${problem} A second instance needed ${lesson('sentinel')}`,
      tags,
    })
    expect(more.similar).toMatchObject([{ id: fix.id }])
    expect((await eve.search(problem)).map(({ id }) => id)).toEqual([fix.id, more.id])
  })

  it('6.3 a citation counts once for each agent, and what was cited stays as a tombstone', async () => {
    const author = await hub.agent('author', 1)
    const reader = await hub.agent('reader', 1)
    const source_url = 'https://example.com/42'
    const cited = await author.save({ content: lesson('redis'), tags, source_url })
    const other = await author.save({ content: lesson('deploy'), tags })
    expect((await author.cite(cited.id)).citations).toBe(0)
    expect((await (await hub.agent('newcomer')).cite(cited.id)).citations).toBe(0)
    for (let i = 0; i < 2; i++) {
      expect(await reader.cite(cited.id)).toMatchObject({
        success: true,
        citation: `Recall #${cited.short_id}`,
        citations: 1,
      })
    }
    const third = await author.save({ content: lesson('kafka'), tags })
    expect((await reader.cite(third.id)).citations).toBe(1)
    expect(await codeOf(() => reader.delete(cited.id))).toBe(MemoryErrorCode.FORBIDDEN)
    // As while vectors are moved to another model.
    await database()
      .update(memories)
      .set({ nextEmbedding: [1, 0] })
      .where(eq(memories.id, cited.id))
    expect(await author.delete(cited.id)).toBe('tombstone')
    const [tombstone] = await database().select().from(memories).where(eq(memories.id, cited.id))
    expect(tombstone).toMatchObject({
      content: '',
      tags: [],
      sourceUrl: null,
      embedding: null,
      nextEmbedding: null,
      wordsDigest: null,
    })
    expect(await author.delete(other.id)).toBe('deleted')
    expect((await hub.request('GET', `/api/v1/memory/${cited.id}`, { key: reader.key })).status).toBe(410)
    expect((await hub.request('GET', `/api/v1/memory/${other.id}`, { key: reader.key })).status).toBe(404)
  })

  it('9 a key is kept as its SHA-256 alone, and stands in no line of the log', async () => {
    const lines: unknown[] = []
    const settings = parseConfig(noLimits)
    const told = await createHub(settings, {
      database: database(),
      embedder: fakeEmbedder(),
      log: (line) => lines.push(line),
    })
    const { id, apiKey } = await registerAgent({ url: 'http://localhost', fetch: told.fetch }, 'ada')
    const ada = connectHub({ url: 'http://localhost', fetch: told.fetch, apiKey, retries: 0 })
    await ada.whoami()
    await codeOf(() => ada.get('RCL-00000000'))
    const [row] = await database().select().from(agents).where(eq(agents.id, id))
    expect(row?.apiKeyHash).toBe(createHash('sha256').update(apiKey).digest('hex'))
    expect(JSON.stringify(row)).not.toContain(apiKey)
    expect(lines).toHaveLength(3)
    expect(JSON.stringify(lines)).not.toMatch(/recall_[\w-]{20}/)
  })

  it('9 in production agents reach the hub by https, and by no other name', async () => {
    const production = {
      ...noLimits,
      production: true,
      postgresUrl: 'postgres://the-same',
      embedding: { provider: 'local' },
    }
    expect(() => parseConfig({ ...production, publicUrl: 'http://hub.example' })).toThrow('https')
    const served = await openHub(database(), {
      ...production,
      publicUrl: 'https://hub.example',
      host: '0.0.0.0',
    } as HubSettings)
    const ask = async (url: string) => (await served.fetch(new Request(`${url}/api/v1/health`))).status
    expect([await ask('https://hub.example'), await ask('http://elsewhere.example')]).toEqual([200, 403])
  })

  it('9 one address registers five agents an hour', async () => {
    const strict = await openHub(database(), {}, { clock: () => now })
    const register = async () => {
      const answer = await strict.request('POST', '/api/v1/agents/register', { body: { name: 'sybil' } })
      return answer.status
    }
    expect((await Promise.all(Array.from({ length: 6 }, register))).sort()).toEqual([
      201, 201, 201, 201, 201, 429,
    ])
  })

  it('9 the API takes no files, and calls nobody', async () => {
    const answer = await hub.request('GET', '/openapi.json')
    const api = (await answer.json()) as { paths: object; webhooks: object; components: object }
    expect(api.components).toMatchObject({
      schemas: { NewMemory: { properties: { tags: { minItems: 2, maxItems: 6 } } } },
    })
    const taken = [...JSON.stringify(api.paths).matchAll(/"requestBody":\{[^}]*?"content":\{"([^"]+)"/g)]
    expect(new Set(taken.map(([, type]) => type))).toEqual(new Set(['application/json']))
    expect(api.webhooks).toEqual({})
    expect(taken.length).toBeGreaterThan(5)
  })

  it('a provider that is down is told, and nothing is half written', async () => {
    const down = {
      model: 'fake-words/64',
      dimensions: 64,
      embed: () => Promise.reject(new Error('the provider is down')),
    }
    const dark = await openHub(database(), undefined, { clock: () => now, embedder: down })
    const ada = await dark.agent('ada', 1)
    const answer = await dark.request('POST', '/api/v1/memory', {
      key: ada.key,
      body: { content: lesson('redis'), tags },
    })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('Retry-After')).toBe('5')
    expect(await database().$count(memories)).toBe(0)
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
    expect(await database().$count(memories)).toBe(1)
  })

  it('no agent reaches the private memory of another', async () => {
    const [ada, bob] = [await hub.agent('ada'), await hub.agent('bob')]
    await ada.memory.write('long-term', 'key', 'hers')
    await bob.memory.write('long-term', 'key', 'his')
    expect(await bob.memory.read('long-term', 'key')).toBe('his')
    await bob.memory.clear('long-term')
    expect(await ada.memory.read('long-term', 'key')).toBe('hers')
    const find = (body: object) =>
      hub.request('POST', '/api/v1/private/long-term/find', { key: bob.key, body: { text: 'hers', ...body } })
    expect(await (await find({ namespace: ada.id })).json()).toEqual({ found: [] })
    expect((await find({ tenant: ada.id })).status).toBe(400)
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
