import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { type Database, idempotencyKeys, memories, rateLimits, systemConfig } from '@recall/store-postgres'
import { eq, type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { type HubSettings, parseConfig } from '../src/config/config.ts'
import { createHub } from '../src/create-hub.ts'
import { examine } from '../src/doctor.ts'
import { confirmHeartbeat } from '../src/trust/heartbeat.ts'
import { engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['pool', 'orders']
const lesson = (subject: string): string =>
  `${subject} failed under load until the ${subject} settings were raised; it then held for days without trouble.`
const secretQuestion = 'zanzibar-question'

describe.each(engines)('operating a hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database(), noLimits)
  })

  it('gives the first answer again to a hub that died after it wrote', async () => {
    const ada = await hub.agent('ada', 1)
    const request = {
      key: ada.key,
      body: { content: lesson('redis'), tags },
      headers: { 'Idempotency-Key': 'attempt-k1' },
    }
    const first = await hub.request('POST', '/api/v1/memory', request)
    // What a crash right after the commit leaves is what the transaction left.
    const [kept] = await database().select().from(idempotencyKeys)
    expect(kept?.body).toBe(await first.clone().text())
    expect(JSON.stringify(kept)).not.toContain('attempt')
    const second = await hub.request('POST', '/api/v1/memory', request)
    expect(await second.json()).toEqual(await first.json())
    expect(await database().$count(memories)).toBe(1)
  })

  it('counts the requests of an agent together with other hubs on the same server', async () => {
    const search = [
      { requests: 3, seconds: 60 },
      { requests: 4, seconds: 3600 },
    ]
    const get = [{ requests: 1, seconds: 60 }]
    const { tiers } = noLimits.limits
    const unverified = { ...tiers.unverified, search, get }
    const settings = {
      limits: { ...noLimits.limits, tiers: { ...tiers, unverified } },
      postgresUrl: 'postgres://the-same',
    }
    const hubs = [await openHub(database(), settings), await openHub(database(), settings)]
    const [ada, bob] = [await hub.agent('ada'), await hub.agent('bob')]
    const ask = async (i: number, key: string, path = 'memory/search?q=redis') =>
      (await hubs[i % 2]?.request('GET', `/api/v1/${path}`, { key })) as Response
    const answers = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => ask(i, ada.key)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429])
    const refused = answers.find(({ status }) => status === 429)
    expect(Number(refused?.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await ask(1, bob.key)).status).toBe(200)
    expect((await ask(1, ada.key, 'agents/me')).status).toBe(200)
  })

  it('forgets a request that failed, so that it may be tried again', async () => {
    let fails = true
    const embedder: Embedder = {
      ...fakeEmbedder(),
      embed: (texts, mode) => (fails ? Promise.reject(new Error('down')) : fakeEmbedder().embed(texts, mode)),
    }
    const flaky = await openHub(database(), noLimits, { embedder })
    const ada = await flaky.agent('ada', 1)
    const request = {
      key: ada.key,
      body: { content: lesson('redis'), tags },
      headers: { 'Idempotency-Key': 'k1' },
    }
    expect((await flaky.request('POST', '/api/v1/memory', request)).status).toBe(503)
    fails = false
    expect((await flaky.request('POST', '/api/v1/memory', request)).status).toBe(201)
  })

  it.each([
    ['rate the memories', /from citations/],
    ['work on the queue', /embed_attempts/],
  ])('forgets old answers, however many, also where it cannot %s', async (_, failing) => {
    const { id } = await hub.agent('ada', 1)
    const execute = async (statement: SQL) => {
      if (failing.test(new PgDialect().sqlToQuery(statement).sql)) throw new Error('the connection is lost')
      return database().execute(statement)
    }
    const broken: Database = Object.create(database(), { execute: { value: execute } })
    await database().execute(sql`
      insert into idempotency_keys (agent_id, route, key, fingerprint, created_at)
      select ${id}::uuid, 'POST /api/v1/memory', i::text, '', now() - interval '25 hours'
      from generate_series(1, 5001) as i`)
    const { maintain } = await openHub(broken, noLimits)
    await expect(maintain()).rejects.toMatchObject({ code: MemoryErrorCode.SEARCH_FAILED })
    expect(await database().$count(idempotencyKeys)).toBe(0)
    expect(await hub.maintain()).toMatchObject({ forgottenAnswers: 0 })
  })

  it('forgets the counts of requests an hour after their window', async () => {
    const expired = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    const counts = { '61': expired(61), '59': expired(59) }
    await database()
      .insert(rateLimits)
      .values(Object.entries(counts).map(([key, expire]) => ({ key, expire })))
    await hub.maintain()
    expect(await database().select().from(rateLimits)).toMatchObject([{ key: '59' }])
  })

  it('keeps a memory at once and makes its vector later, in whatever hub', async () => {
    let now = Date.UTC(2026, 0, 1)
    let down = true
    const embedder: Embedder = {
      ...fakeEmbedder(),
      embed: (texts, mode) =>
        down && mode === 'document' ? Promise.reject(new Error('down')) : fakeEmbedder().embed(texts, mode),
    }
    const settings = { ...noLimits, embedAsync: true }
    const queued = await openHub(database(), settings, { embedder, clock: () => now })
    const other = await openHub(database(), settings, { embedder, clock: () => now })
    const [ada, bob] = [await queued.agent('ada', 1), await queued.agent('bob', 1)]
    const first = await ada.save({ content: lesson('redis'), tags })
    const copy = await ada.save({ content: lesson('redis'), tags })
    expect(first).toMatchObject({ status: 'queued', similar: [] })
    expect(await queued.embedWaiting()).toBe(0)
    down = false
    // What failed comes again after its pause, not before; what was not tried does not wait.
    expect(await other.embedWaiting()).toBe(1)
    expect(await other.embedWaiting()).toBe(0)
    now += 2000
    const [a, b] = await Promise.all([queued.embedWaiting(), other.embedWaiting()])
    expect(a + b).toBe(1)
    const found = await bob.search(lesson('redis'))
    expect(found.length).toBeGreaterThanOrEqual(1)
    const rows = await database().select().from(memories)
    expect(rows.filter(({ duplicateOf }) => duplicateOf !== null)).toHaveLength(1)
    expect(rows.every(({ embedding }) => embedding !== null)).toBe(true)
    expect([first.id, copy.id]).toContain(found[0]?.id)
  })

  it.each([
    ['25006', 503, 'Postgres takes no writes at the moment (25006)'],
    ['53100', 500, 'Postgres has no room left or cannot write to its disk (53100)'],
  ])(
    'takes no write from the quota of an agent when Postgres refuses it with %s',
    async (code, status, detail) => {
      const once = [{ requests: 1, seconds: 3600 }]
      const { tiers } = noLimits.limits
      const trusted = { ...tiers.trusted, write: once }
      const own = await openHub(database(), { limits: { ...noLimits.limits, tiers: { ...tiers, trusted } } })
      const { key } = await own.agent('ada', 1)
      const save = () =>
        own.request('POST', '/api/v1/memory', { key, body: { content: lesson('redis'), tags } })
      await database().execute(
        sql.raw(`
        create function refuse() returns trigger language plpgsql as $$ begin
          raise exception 'refused' using errcode = '${code}';
        end $$`),
      )
      await database().execute(
        sql`create trigger refuse before insert on memories for each row execute function refuse()`,
      )
      const refused = await save()
      await database().execute(sql`drop function refuse cascade`)
      expect([refused.status, await refused.json()]).toMatchObject([status, { detail }])
      expect((await save()).status).toBe(201)
      expect((await save()).status).toBe(429)
    },
  )

  /** The checks of the doctor that a hub fails. */
  const failing = async (
    settings: HubSettings = {},
    embedder: Embedder = fakeEmbedder(),
  ): Promise<string[]> => {
    const findings = await examine(parseConfig(settings), { database: database(), embedder })
    return findings.filter(({ ok }) => !ok).map(({ check }) => check)
  }
  const silent = (time: string): SQL =>
    sql`update system_config set last_heartbeat_at = now() - ${time}::interval`

  it.each([
    ['vectors', sql`update memories set embedding_model = 'another'`],
    ['vectors', sql`update memories set embedding = null`],
    ['writes', sql`update system_config set global_write_enabled = false`],
    ['writes', silent('30 days')],
    ['administrators', sql`update agents set disabled_at = now()`],
    ['administrators', sql`update agents set trust_level = 1`],
  ])('says by name what is not in order: %s', async (name, change) => {
    await (await hub.agent('root', 2)).save({ content: lesson('redis'), tags })
    // The indexes of vectors are made where a hub opens its database.
    expect(await failing()).toEqual(['vector index'])
    await database().execute(change)
    expect(await failing()).toEqual(['vector index', name])
  })

  it('takes for in order what is about to be done', async () => {
    const root = await hub.agent('root', 2)
    const { id } = await root.save({ content: lesson('redis'), tags })
    await database().update(memories).set({ embedding: null }).where(eq(memories.id, id))
    await database().execute(silent('29 days 23 hours'))
    expect(await failing({ embedAsync: true })).toEqual(['vector index'])
    const broken: Embedder = { ...fakeEmbedder(), embed: () => Promise.reject(new Error('down')) }
    expect(await failing({ embedAsync: true }, broken)).toEqual(['vector index', 'embedding provider'])
    await (await hub.agent('ada', 1)).cite(id)
    expect(await root.delete(id)).toBe('tombstone')
    expect(await failing()).toEqual(['vector index'])
  })

  it('tells in logs and figures what was asked for, and nothing of what was in it', async () => {
    const lines: string[] = []
    const told = await createHub(parseConfig({ ...noLimits, embedding: { provider: 'fake' } }), {
      database: database(),
      embedder: fakeEmbedder(),
      log: (line) => lines.push(JSON.stringify(line)),
    })
    const ada = await hub.agent('ada', 1)
    const { id, short_id } = await ada.save({ content: lesson('marzipan'), tags })
    const send = (path: string, method = 'GET') =>
      told.fetch(
        new Request(`http://localhost${path}`, { method, headers: { Authorization: `Bearer ${ada.key}` } }),
      )
    await send(`/api/v1/memory/search?q=${secretQuestion}`)
    await send(`/api/v1/memory/${id}`)
    await send(`/api/v1/memory/${short_id}/none`)
    await send(`/api/v1/${secretQuestion}`)
    const figures = await (await send('/metrics')).text()
    expect(figures).toContain('recall_requests_total{method="GET",route="/api/v1/memory/:id",status="200"} 1')
    expect(figures).toContain('route="none",status="404"')
    expect(lines.map((line) => JSON.parse(line).route)).toContain('/api/v1/memory/search')
    for (const text of [figures, ...lines]) {
      for (const secret of [ada.key, secretQuestion, 'marzipan', id, short_id])
        expect(text).not.toContain(secret)
    }
  })

  it('tells in the log of its own failures, not of those of its callers', async () => {
    const failures: Record<string, unknown>[] = []
    const down = new MemoryError('the server of vectors answered 500', MemoryErrorCode.UNAVAILABLE)
    const told = await createHub(parseConfig({ ...noLimits, embedding: { provider: 'fake' } }), {
      database: database(),
      embedder: { ...fakeEmbedder(), embed: () => Promise.reject(down) },
      log: (line) => line.event === 'request failed' && failures.push(line),
    })
    const { key } = await hub.agent('ada', 1)
    const search = (query: string) =>
      told.fetch(
        new Request(`http://localhost/api/v1/memory/search?q=${query}`, {
          headers: { Authorization: `Bearer ${key}` },
        }),
      )
    expect([(await search('')).status, (await search(secretQuestion)).status]).toEqual([400, 503])
    expect(failures).toEqual([
      {
        level: 'error',
        event: 'request failed',
        status: 503,
        route: '/api/v1/memory/search',
        code: MemoryErrorCode.UNAVAILABLE,
        name: 'MemoryError',
        says: 'the server of vectors answered 500',
      },
    ])
  })

  it('shows its figures on loopback, and elsewhere to who has the token', async () => {
    const token = 'a-token-of-some-length'
    const guarded = await openHub(database(), { ...noLimits, metricsToken: token })
    expect((await guarded.request('GET', '/metrics')).status).toBe(404)
    expect((await guarded.request('GET', '/metrics', { key: `${token}x` })).status).toBe(404)
    for (const Authorization of [`Bearer ${token}`, `bearer ${token}`])
      expect((await guarded.request('GET', '/metrics', { headers: { Authorization } })).status).toBe(200)
    expect((await hub.request('GET', '/metrics')).status).toBe(200)
    expect((await hub.fetch(new Request('http://evil.example/metrics'))).status).toBe(403)
    const wide = await openHub(database(), { ...noLimits, host: '0.0.0.0' })
    expect((await wide.request('GET', '/metrics')).status).toBe(404)
  })

  it('answers probes under any address, and figures under any to who has the token', async () => {
    const token = 'a-token-of-some-length'
    const deployed = { ...noLimits, host: '0.0.0.0', publicUrl: 'https://hub.example.org', behindProxy: true }
    const guarded = await openHub(database(), { ...deployed, metricsToken: token })
    const ask = async (hub: TestHub, url: string, key?: string): Promise<number> =>
      (await hub.fetch(new Request(url, { headers: key ? { Authorization: `Bearer ${key}` } : {} }))).status
    for (const url of [
      'http://10.1.2.3:8787/livez',
      'http://api:8787/readyz',
      'http://[2001:db8::1]:8787/healthz',
    ])
      expect(await ask(guarded, url)).toBe(200)
    expect(await ask(guarded, 'http://evil.example/livez')).toBe(403)
    expect(await ask(guarded, 'http://api:8787/metrics', token)).toBe(200)
    expect(await ask(guarded, 'http://api:8787/metrics')).toBe(404)
    expect(await ask(guarded, 'http://api:8787/api/v1/health')).toBe(403)
    // Who comes from this machine may be a proxy that passes on what comes from anywhere.
    for (const passing of [{ publicUrl: deployed.publicUrl }, { behindProxy: true }]) {
      const local = await openHub(database(), { ...noLimits, ...passing })
      expect(await ask(local, 'http://localhost/metrics')).toBe(404)
    }
  })

  it('tells when to ask again while it stops, and is alive until then', async () => {
    const stopping = await openHub(database())
    stopping.drain()
    for (const path of ['/readyz', '/healthz', '/api/v1/health']) {
      const answer = await stopping.request('GET', path)
      expect(answer.status).toBe(503)
      expect(answer.headers.get('Retry-After')).toBe('1')
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
    }
    const alive = await stopping.request('GET', '/livez')
    expect([alive.status, alive.headers.get('Retry-After')]).toEqual([200, null])
    expect((await hub.request('GET', '/readyz')).headers.get('Retry-After')).toBeNull()
  })

  it('takes a read, and no write, off the limits of who could not be served', async () => {
    let isDown = true
    const whole = fakeEmbedder()
    const embedder: Embedder = {
      ...whole,
      embed: (texts, options) => (isDown ? Promise.reject(new Error('down')) : whole.embed(texts, options)),
    }
    const [two, four] = [2, 4].map((requests) => [{ requests, seconds: 86_400 }])
    const { tiers } = noLimits.limits
    const trusted = { ...tiers.trusted, write: two, get: four }
    const limits = { ...noLimits.limits, tiers: { ...tiers, trusted } }
    const failing = await openHub(database(), { ...noLimits, limits }, { embedder })
    const { key } = await failing.agent('ada', 1)
    const save = async (subject: string): Promise<number> =>
      (await failing.request('POST', '/api/v1/memory', { key, body: { content: lesson(subject), tags } }))
        .status
    for (let i = 0; i < 3; i++) expect(await save('redis')).toBe(503)
    isDown = false
    expect([await save('redis'), await save('postgres'), await save('kafka')]).toEqual([201, 201, 429])
    expect(await save('nginx')).toBe(429)
    const read = await failing.request('GET', '/api/v1/agents/me', { key })
    expect(read.headers.get('RateLimit-Policy')).toContain('q=4')
    expect(read.status).toBe(429)
  })

  it('takes no new memory while it is read-only, and lets agents do all else', async () => {
    let now = Date.now()
    const paused = await openHub(database(), noLimits, { clock: () => now })
    const ada = await paused.agent('ada', 1)
    const { id } = await ada.save({ content: lesson('redis'), tags })
    now += 31 * 24 * 3600_000
    const status = async (method: string, path: string, body?: unknown): Promise<number> =>
      (await paused.request(method, `/api/v1/${path}`, { key: ada.key, ...(body ? { body } : {}) })).status
    expect(await status('POST', 'memory', { content: lesson('kafka'), tags })).toBe(403)
    // Nobody confirms anything by starting one more hub.
    await openHub(database(), noLimits, { clock: () => now })
    expect(await status('POST', 'memory', { content: lesson('kafka'), tags })).toBe(403)
    expect(await status('GET', `memory/${id}`)).toBe(200)
    expect(await status('POST', `memory/${id}/cite`)).toBe(200)
    expect(await status('POST', 'private/working/put', { entry: { key: 'k', value: 1 } })).toBe(200)
    expect(await status('DELETE', `memory/${id}`)).toBe(200)
    expect(await status('POST', 'agents/register', { name: 'eve' })).toBe(201)
    expect(await status('POST', 'agents/me/rotate-key')).toBe(200)
  })

  it('counts writes as reads while it is read-only', async () => {
    let now = Date.now()
    const trusted = { ...noLimits.limits.tiers.trusted, write: [{ requests: 1, seconds: 3600 }] }
    const limits = { ...noLimits.limits, tiers: { ...noLimits.limits.tiers, trusted } }
    const paused = await openHub(database(), { ...noLimits, limits }, { clock: () => now })
    const { key } = await paused.agent('ada', 1)
    const body = { content: lesson('kafka'), tags }
    const save = async () => (await paused.request('POST', '/api/v1/memory', { key, body })).status
    now += 31 * 24 * 3600_000
    expect([await save(), await save()]).toEqual([403, 403])
    now -= 31 * 24 * 3600_000
    expect([await save(), await save()]).toEqual([201, 429])
  })

  it('takes no new memory where its settings are gone, and says what to do', async () => {
    const { key } = await hub.agent('ada', 1)
    await database().delete(systemConfig)
    const answer = await hub.request('POST', '/api/v1/memory', {
      key,
      body: { content: lesson('redis'), tags },
    })
    expect([answer.status, answer.headers.get('Retry-After'), await answer.json()]).toMatchObject([
      503,
      '1',
      { detail: expect.stringContaining('start it once') },
    ])
  })

  it('is not paused by a look that was taken before its administrator came', async () => {
    let now = Date.now()
    const paused = await openHub(database(), noLimits, { clock: () => now })
    now += 31 * 24 * 3600_000
    await confirmHeartbeat({
      ...paused,
      call: (run: () => Promise<unknown>) => run(),
      clock: () => now,
    } as never)
    now -= 1
    await paused.maintain()
    const [row] = await database().select().from(systemConfig)
    expect(row?.globalWriteEnabled).toBe(true)
  })

  it('shows every call on one page that fetches nothing', async () => {
    const page = await hub.request('GET', '/reference')
    const text = await page.text()
    const api = (await (await hub.request('GET', '/openapi.json')).json()) as { paths: object }
    for (const path of Object.keys(api.paths)) expect(text).toContain(path)
    expect(text).not.toMatch(/<script|src=|https?:\/\//)
    // What a schema has beyond the one that it extends.
    expect(text).toContain(
      '<dt><code>agent</code></dt><dd><a href="#ReviewedAgent">ReviewedAgent</a> and object',
    )
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
  })

  it('describes an id by a pattern that matches one', async () => {
    const api = (await (await hub.request('GET', '/openapi.json')).json()) as {
      paths: Record<string, { get?: { parameters: { schema: { pattern: string } }[] } }>
    }
    const { pattern = '' } = api.paths['/api/v1/memory/{id}']?.get?.parameters[0]?.schema ?? {}
    for (const id of ['RCL-8F3K2A9Q', '0198c2f4-6d1e-7c3a-9b52-2f4e8a6d1c90'])
      expect(id).toMatch(new RegExp(pattern, 'u'))
    expect('me').not.toMatch(new RegExp(pattern, 'u'))
  })

  it('describes of a request what it must have, and no null where none is taken', async () => {
    const api = await (await hub.request('GET', '/openapi.json')).json()
    const numberIn = (parameters: { name: string; schema: object }[], wanted: string) =>
      parameters.find(({ name }) => name === wanted)?.schema
    const { paths, components } = api as {
      paths: Record<string, { get: { parameters: { name: string; schema: object }[] } }>
      components: object
    }
    expect(numberIn(paths['/api/v1/admin/agents']?.get.parameters ?? [], 'offset')).toMatchObject({
      type: 'integer',
    })
    expect(numberIn(paths['/api/v1/memory/search']?.get.parameters ?? [], 'limit')).toMatchObject({
      type: 'integer',
    })
    expect(components).toMatchObject({ schemas: { Entry: { required: expect.arrayContaining(['value']) } } })
    const entry = { required: ['key', 'value'] }
    const body = { content: { 'application/json': { schema: { properties: { entry } } } } }
    expect(paths['/api/v1/private/{scope}/put']).toMatchObject({ post: { requestBody: body } })
  })

  it('says of what is read that it may be absent, and never of what is found', async () => {
    const api = await (await hub.request('GET', '/openapi.json')).json()
    const entry = { $ref: '#/components/schemas/Entry' }
    const answerOf = (operation: string, properties: object) => ({
      [`/api/v1/private/{scope}/${operation}`]: {
        post: { responses: { 200: { content: { 'application/json': { schema: { properties } } } } } },
      },
    })
    expect(api).toMatchObject({
      components: { schemas: { Entry: { type: 'object' } } },
      paths: {
        ...answerOf('get', { entry: { anyOf: [entry, { type: 'null' }] } }),
        ...answerOf('find', { found: { items: { properties: { entry } } } }),
      },
    })
  })
})
