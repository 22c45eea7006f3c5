import { agents, memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { content, tags } from './support/abuse-content.ts'
import { engines, openHub, routesOf, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

/** What has been used against memory services, filters and databases. */
const metacharacters = [
  `'; drop table memories; --`,
  `" or "1"="1`,
  `') union select api_key_hash from agents --`,
  '%_%',
  '\\',
  '$1',
  '{"$where": "1"}',
  'a & b | !c:*',
  "E'\\x00'",
  '*) OR (1=1',
  '::text',
  '"quoted" NEAR/2 AND',
  '../../etc/passwd',
  '%2e%2e%2f',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '`id`',
  'null',
  '__proto__',
  'constructor',
]

describe.each(engines)('abuse of access to the hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database())
  })

  const post = (path: string, key: string, body: unknown): Promise<Response> =>
    hub.request('POST', `/api/v1/${path}`, { key, body })

  it('answers no call below the API without a key, but registering and health', async () => {
    const routes = await routesOf(hub)
    expect(routes.length).toBeGreaterThan(20)
    const open: string[] = []
    for (const [method, path] of routes) {
      if (!path.startsWith('/api/')) continue
      const at = path.replace('{id}', crypto.randomUUID()).replace('{scope}', 'working')
      const body = method === 'POST' ? {} : undefined
      const { status } = await hub.request(method, at, { ...(body ? { body } : {}) })
      if (status !== 401) open.push(`${method} ${path}`)
    }
    expect(open.toSorted()).toEqual(['GET /api/v1/health', 'POST /api/v1/agents/register'])
  })

  it('opens no administration to an agent that is no administrator', async () => {
    const { key } = await hub.agent('ada', 1)
    const calls = (await routesOf(hub)).filter(([, path]) => path.startsWith('/api/v1/admin/'))
    expect(calls.length).toBeGreaterThan(10)
    for (const [method, path] of calls) {
      const at = path.replace('{id}', crypto.randomUUID())
      const body = method === 'POST' ? { trust_level: 2 } : undefined
      expect((await hub.request(method, at, { key, body })).status, `${method} ${path}`).toBe(403)
    }
  })

  it('opens no administration any more to whom another process took it a moment ago', async () => {
    const { key, id } = await hub.agent('admin', 2)
    expect((await post('admin/heartbeat', key, {})).status).toBe(200)
    await database().update(agents).set({ trustLevel: 1 }).where(eq(agents.id, id))
    expect((await post('admin/heartbeat', key, {})).status).toBe(403)
  })

  it('takes nothing of who writes, how good it is or how trusted, from a body', async () => {
    const agent = await hub.agent('ada')
    const forged = {
      agent_id: crypto.randomUUID(),
      author: { name: 'admin' },
      quality: 0,
      trust_level: 2,
      retrieval_count: 1000,
      created_at: '2020-01-01T00:00:00Z',
      id: crypto.randomUUID(),
      short_id: 'RCL-00000000',
      embedding: [1, 0],
      duplicate_of: null,
    }
    for (const [name, value] of Object.entries(forged)) {
      const answer = await post('memory', agent.key, { content: content('forged'), tags, [name]: value })
      expect(answer.status, name).toBe(400)
    }
    expect(await database().$count(memories)).toBe(0)
    const named = await hub.request('POST', '/api/v1/agents/register', {
      body: { name: 'eve', trust_level: 2 },
    })
    const { api_key: key } = (await named.json()) as { api_key: string }
    expect((await post('admin/heartbeat', key, {})).status).toBe(403)
  })

  it('finds nothing more by any syntax, in any field', async () => {
    const victim = await hub.agent('victim', 1)
    const agent = await hub.agent('agent', 1)
    await victim.memory.write('long-term', 'secret', 'of the victim')
    const { id } = await victim.save({ content: content('quiet words'), tags })
    for (const text of metacharacters) {
      const search = await hub.request('GET', `/api/v1/memory/search?q=${encodeURIComponent(text)}`, {
        key: agent.key,
      })
      expect([text, search.status]).toEqual([text, 200])
      for (const at of [text, `${id}${text}`]) {
        const got = await hub.request('GET', `/api/v1/memory/${encodeURIComponent(at)}`, { key: agent.key })
        expect([400, 404]).toContain(got.status)
      }
      expect(
        (await post('memory', agent.key, { content: content(text), tags: [text, 'other'] })).status,
      ).toBe(201)
      await agent.memory.write('long-term', text, { [text]: text }, { tags: [text] })
      expect(await agent.memory.read('long-term', text)).toEqual({ [text]: text })
      const filters = [{ [text]: text }, { [`a.${text}`]: 1 }, { tags: { $overlap: [text] } }]
      for (const filter of filters) {
        const found = await post('private/long-term/find', agent.key, { filters: filter, text })
        expect(found.status, JSON.stringify(filter)).toBeLessThan(500)
        expect(await found.text()).not.toContain('of the victim')
      }
      const body = { text, namespace: text, tags: [text] }
      expect((await post('private/long-term/find', agent.key, body)).status).toBeLessThan(500)
    }
    expect(await victim.memory.read('long-term', 'secret')).toBe('of the victim')
  })

  it('keeps a memory once, however often and by whomever its request is played again', async () => {
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const send = (key: string, idempotency: string): Promise<Response> =>
      hub.request('POST', '/api/v1/memory', {
        key,
        body: { content: content('replayed'), tags },
        headers: { 'Idempotency-Key': idempotency },
      })
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(ada.key, '"same"')))
    expect(new Set(answers.map(({ status }) => status)).has(201)).toBe(true)
    for (const { status } of answers) expect([201, 409]).toContain(status)
    expect(await database().$count(memories)).toBe(1)
    const first = (await (await send(ada.key, 'same')).json()) as { id: string }
    const other = (await (await send(bob.key, 'same')).json()) as { id: string }
    // The key of another agent's request opens nothing of it.
    expect(other.id).not.toBe(first.id)
    for (const key of ['x'.repeat(1000), "'; drop table agents; --"]) {
      expect((await send(ada.key, key)).status).toBeLessThan(500)
    }
  })

  it('shows and removes nothing of another agent, whatever is asked for', async () => {
    const victim = await hub.agent('victim', 1)
    const probe = await hub.agent('probe', 1)
    const admin = await hub.agent('admin', 2)
    const word = 'quokkaquartz'
    const hidden = await victim.save({ content: content(`hidden ${word}`), tags })
    const open = await victim.save({ content: content('open to all, of other animals such as bison'), tags })
    await post(`admin/quarantine/${hidden.id}`, admin.key, {})
    await victim.memory.write('long-term', 'key', `private ${word}`)
    await victim.memory.write('episodic', 'key', `private ${word}`)

    const places = ['key', victim.id, hidden.id, hidden.short_id, open.id, 'default', '..', '%', '*', '']
    const place = fc.oneof(fc.constantFrom(...places), fc.string({ maxLength: 12 }))
    const scope = fc.constantFrom('working', 'short-term', 'long-term', 'episodic', '..', victim.id)
    const now = fc.constantFrom(0, 1e15)
    const bodies: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
      get: { key: place, now },
      find: { text: fc.constantFrom(word, 'private'), limit: fc.constantFrom(1, 1000), now },
      put: { entry: place.map((key) => ({ key, value: 'mine' })), now },
      touch: { keys: fc.array(place, { maxLength: 2 }), now },
      remove: { key: place },
      'remove-all': {},
      commit: { changes: place.map((key) => [{ remove: key }]), now },
      sweep: { now },
      stats: {},
      stamp: { key: place },
    }
    const others = fc.constantFrom({}, {}, {}, { tenant: victim.id }, { agent_id: victim.id })
    const own = fc.constantFrom(...Object.entries(bodies)).chain(([operation, members]) => {
      const known = { namespace: place, archived: fc.boolean(), ...members }
      return fc.record({
        method: fc.constant('POST'),
        path: scope.map((at) => `private/${encodeURIComponent(at)}/${operation}`),
        body: fc
          .tuple(fc.record(known, { requiredKeys: [] }), others)
          .map(([body, unknown]) => ({ ...body, ...unknown })),
      })
    })
    const call = fc.oneof(
      own,
      fc.record({
        method: fc.constantFrom('GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'),
        path: place.map((id) => `memory/${encodeURIComponent(id)}`),
        body: fc.constant(undefined),
      }),
      fc.record({
        method: fc.constant('GET'),
        path: fc
          .constantFrom(word, `hidden ${word}`, content(`hidden ${word}`))
          .map((q) => `memory/search?limit=50&q=${encodeURIComponent(q)}`),
        body: fc.constant(undefined),
      }),
    )
    await fc.assert(
      fc.asyncProperty(call, async ({ method, path, body }) => {
        const answer = await hub.request(method, `/api/v1/${path}`, {
          key: probe.key,
          ...(body && method === 'POST' ? { body } : {}),
        })
        expect(answer.status).toBeLessThan(500)
        const text = await answer.text()
        expect(text.replace(/"query":"[^"]*"/, '')).not.toContain(word)
      }),
      { numRuns: Number(process.env.RECALL_TEST_RUNS ?? 400) },
    )
    expect(await victim.memory.read('long-term', 'key')).toBe(`private ${word}`)
    expect(await victim.memory.read('episodic', 'key')).toBe(`private ${word}`)
    expect((await victim.get(hidden.id)).content).toContain(word)
    expect((await victim.get(open.id)).short_id).toBe(open.short_id)
    // What is hidden and what is not there look the same.
    const [there, absent] = await Promise.all(
      [hidden.id, crypto.randomUUID()].map(async (id) => {
        const answer = await hub.request('GET', `/api/v1/memory/${id}`, { key: probe.key })
        return [answer.status, (await answer.text()).replaceAll(id, '')]
      }),
    )
    expect(there).toEqual(absent)
  })

  it('tells a stranger nothing of its inside', async () => {
    const health = (await (await hub.request('GET', '/api/v1/health')).json()) as object
    expect(Object.keys(health).toSorted()).toEqual(['embedding_model', 'protocol_version', 'status'])
    const broken = await openHub(database(), undefined, {
      embedder: {
        model: 'fake-words/64',
        dimensions: 64,
        embed: () => Promise.reject(new Error('postgres://user:password@10.0.0.1/inside')),
      },
    })
    const { key } = await broken.agent('ada', 1)
    const answer = await broken.request('GET', '/api/v1/memory/search?q=anything', { key })
    expect(answer.status).toBe(503)
    expect(await answer.text()).not.toMatch(/password|10\.0\.0\.1| at .*\.ts/)
  })
})
