import { gzipSync } from 'node:zlib'
import { MemoryErrorCode } from '@recall/core'
import { memories, retrievalEvents } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { engines, noLimits, openHub, routesOf, type TestHub } from './support.ts'
import { useDatabase } from './use-database.ts'

const content = (words: string): string =>
  `The pool leaked under load until the retry path released its client again; ${words}. It held for days.`
const tags = ['postgres', 'leak']
const keyId = ['AKIA', 'IOSFODNN7QWERTYZ'].join('')
const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('')

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

describe.each(engines)('abuse of the hub on %s', (_, open) => {
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

  it('gives an agent so many namespaces and no more, however they are filled and emptied', async () => {
    const narrow = await openHub(hub.database, { ...noLimits, privateNamespaces: 2 })
    const agent = await narrow.agent('ada')
    const inNamespace = (namespace: string) =>
      narrow.request('POST', '/api/v1/private/working/put', {
        key: agent.key,
        body: { namespace, entry: { key: 'k', value: 1 }, overwrite: true },
      })
    const statuses = async (...namespaces: string[]): Promise<number[]> => {
      const answered: number[] = []
      for (const each of namespaces) answered.push((await inNamespace(each)).status)
      return answered
    }
    expect(await statuses('one', 'two', 'one', 'three', 'two')).toEqual([200, 200, 200, 413, 200])
    const refused = (await (await inNamespace('three')).json()) as { code: string; detail: string }
    expect(refused).toMatchObject({ code: MemoryErrorCode.QUOTA_EXCEEDED })
    expect(refused.detail).toContain('2 namespaces')

    const emptied = { namespace: 'one', key: 'k' }
    await narrow.request('POST', '/api/v1/private/working/remove', { key: agent.key, body: emptied })
    expect(await statuses('three')).toEqual([413])
    await narrow.maintain()
    expect(await statuses('🐘'.repeat(500), 'two', 'one')).toEqual([200, 200, 413])
  })

  it('gives an agent no namespace more when it asks for many at once', async () => {
    const narrow = await openHub(hub.database, { ...noLimits, privateNamespaces: 2 })
    const { key } = await narrow.agent('ada')
    const puts = Array.from({ length: 10 }, (_, i) =>
      narrow.request('POST', '/api/v1/private/working/put', {
        key,
        body: { namespace: `n${i}`, entry: { key: 'k', value: 1 }, overwrite: true },
      }),
    )
    const statuses = (await Promise.all(puts)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, ...Array(8).fill(413)])
  })

  it('refuses what is too large or too deep, and says so', async () => {
    const { key } = await hub.agent('ada', 1)
    const large = JSON.stringify({ content: 'x'.repeat(10 * 1024 * 1024), tags })
    const answer = await post('memory', key, large)
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({
      code: MemoryErrorCode.QUOTA_EXCEEDED,
      detail: expect.stringMatching(/the \d+ bytes .* send less at once, and a batch in several/),
    })
    const unknown = await hub.request('POST', '/api/v1/agents/register', {
      body: { name: 'ada', note: 'x'.repeat(20_000) },
    })
    expect(unknown.status).toBe(413)
    const chunked = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(1024 * 1024).fill(120))
      },
    })
    const endless = new Request('http://localhost/api/v1/memory', {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: chunked,
      duplex: 'half',
    } as RequestInit)
    expect((await hub.fetch(endless)).status).toBe(413)
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    for (const [path, body] of [
      ['memory', deep],
      ['private/working/put', `{"entry": {"key": "k", "value": ${deep}}}`],
      [
        'private/working/find',
        `{"filter": ${'{"kind":"not","filter":'.repeat(5000)}null${'}'.repeat(5000)}}`,
      ],
      ['private/working/find', `{"filters": ${'{"not":'.repeat(5000)}null${'}'.repeat(5000)}}`],
    ] as const) {
      expect([path, (await post(path, key, body)).status]).toEqual([path, 400])
    }
    const plain = await hub.fetch(
      new Request('http://localhost/api/v1/memory', {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'text/plain' },
        body: '{}',
      }),
    )
    expect(await plain.json()).toMatchObject({
      status: 415,
      detail: expect.stringContaining('Content-Type:'),
    })
    const compressed = await hub.fetch(
      new Request('http://localhost/api/v1/memory', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Content-Encoding': 'gzip',
        },
        body: gzipSync('{}'),
      }),
    )
    expect(compressed.headers.get('Accept-Encoding')).toBe('identity')
    expect(await compressed.json()).toMatchObject({
      status: 415,
      detail: expect.stringContaining('without Content-Encoding'),
    })
    for (const body of ['', '{', 'null', '[]', '"text"', '{"content": 1e999}', '\u0000']) {
      expect([body, (await post('memory', key, body)).status]).toEqual([body, 400])
    }
  })

  it.each(['latin1', 'utf16le'] as const)(
    'keeps no text in another encoding than UTF-8: %s',
    async (encoding) => {
      const { key } = await hub.agent('ada', 1)
      const said = 'In the café the naïve façade was found to be of no use under load. '
      for (const [path, body] of [
        ['memory', { content: said.repeat(3), tags }],
        ['private/long-term/put', { entry: { key: 'k', value: said } }],
        ['agents/register', { name: 'André' }],
      ] as const) {
        const answer = await hub.fetch(
          new Request(`http://localhost/api/v1/${path}`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
            body: Buffer.from(JSON.stringify(body), encoding),
          }),
        )
        expect([path, await answer.json()]).toMatchObject([
          path,
          { status: 400, code: MemoryErrorCode.INVALID_INPUT },
        ])
      }
      expect(await hub.database.$count(memories)).toBe(0)
    },
  )

  it('reads what is too large to its end only from who is known, and only where it has one', async () => {
    const { key } = await hub.agent('ada')
    const megabyte = 1024 * 1024
    /** Sends ten parts of a body that says how long it is; returns the status, and how many parts were taken. */
    const send = async (path: string, length: number, { known = true, breaks = false } = {}) => {
      let taken = 0
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (breaks && taken === 5) return controller.error(new Error('gone'))
            if (taken === 10) return controller.close()
            taken++
            controller.enqueue(new Uint8Array(10))
          },
        },
        { highWaterMark: 0 },
      )
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': String(length),
        ...(known ? { Authorization: `Bearer ${key}` } : {}),
      }
      const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
      const { status } = await hub.fetch(new Request(`http://localhost${path}`, request))
      return [status, taken]
    }
    for (const path of ['/api/v1/memory', '/mcp']) expect(await send(path, 9 * megabyte)).toEqual([413, 10])
    expect(await send('/api/v1/memory', 64 * megabyte + 1)).toEqual([413, 0])
    expect(await send('/api/v1/memory', 9 * megabyte, { breaks: true })).toEqual([413, 5])
    expect(await send('/api/v1/agents/register', 16 * 1024 + 1, { known: false })).toEqual([413, 0])
  })

  it('keeps names and tags to what they look like', async () => {
    const { key } = await hub.agent('ada', 1)
    for (const name of [
      '',
      ' ',
      'a\nb',
      'a\u0000b',
      '\u001b[31mred',
      'x'.repeat(101),
      '\ud800',
      '\u202eada',
      'ad\u200ba',
      '\u200b',
      '\u3164',
      `bot ${secret}`,
      // Eighteen characters each, once they are normalized.
      '\ufdfa'.repeat(6),
    ]) {
      const { status } = await hub.request('POST', '/api/v1/agents/register', { body: { name } })
      expect([name, status]).toEqual([name, 400])
    }
    const saved = async (given: string[]): Promise<string[] | number> => {
      const answer = await post('memory', key, { content: content(given.join(' ')), tags: given })
      if (answer.status !== 201) return answer.status
      const { id } = (await answer.json()) as { id: string }
      const [row] = await database().select().from(memories).where(eq(memories.id, id))
      return row?.tags ?? []
    }
    expect(await saved(['Redis', 'redis', 'ＲＥＤＩＳ', 'lua'])).toEqual(['redis', 'lua'])
    expect(await saved(['café', 'cafe\u0301', 'milk'])).toEqual(['café', 'milk'])
    expect(await saved(['redis', 're\u200bdis', 'lua'])).toEqual(['redis', 'lua'])
    for (const tag of [
      'a\nb',
      '\u0000',
      '\ud800',
      '',
      '\u200b',
      '\u3164',
      'x'.repeat(65),
      '\ufdfa'.repeat(4),
    ]) {
      expect([tag, await saved([tag, 'other'])]).toEqual([tag, 400])
    }
  })

  it('counts an emoji in a name or a tag as one character', async () => {
    const { key } = await hub.agent('ada', 1)
    const register = async (name: string): Promise<number> =>
      (await hub.request('POST', '/api/v1/agents/register', { body: { name } })).status
    const tag = async (text: string): Promise<number> =>
      (await post('memory', key, { content: content(text), tags: [text, 'other'] })).status
    expect([await register('🦊'.repeat(100)), await register('🦊'.repeat(101))]).toEqual([201, 400])
    expect([await tag('🦊'.repeat(64)), await tag('🦊'.repeat(65))]).toEqual([201, 400])
  })

  it('keeps no address that looks like another', async () => {
    const { key } = await hub.agent('ada', 1)
    for (const source_url of [
      'https://example.com/\u001b[2J',
      'https://example.com/\u202egpj.exe',
      'https://exam\u200bple.com/',
      'https://example.com/\u2028x',
    ]) {
      const answer = await post('memory', key, { content: content('an address'), tags, source_url })
      expect([source_url, answer.status]).toEqual([source_url, 400])
    }
  })

  it.each(['text', 'http://', 'https://[', 'ftp://example.com/x', ''])(
    'says that %j is no address to check',
    async (source_url) => {
      const { key } = await hub.agent('ada', 1)
      const answer = await post('memory', key, { content: content('an address'), tags, source_url })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ errors: [{ pointer: '#/source_url' }] })
    },
  )

  it('keeps no secret that comes with an address, a tag or a question', async () => {
    const { key } = await hub.agent('ada', 1)
    const save = (more: object) => post('memory', key, { content: content('redis'), tags, ...more })
    expect((await save({ source_url: 'https://ana:hunter2@example.com/' })).status).toBe(400)
    const leaks = [
      { source_url: `https://example.com/?token=${secret}` },
      { tags: ['leak', secret] },
      { tags: ['leak', keyId] },
    ]
    for (const leak of leaks) {
      const saved = await save(leak)
      expect(saved.status).toBe(201)
      expect(JSON.stringify(await saved.json())).toContain('a secret was replaced')
    }
    await hub.request(
      'GET',
      `/api/v1/memory/search?q=${encodeURIComponent(`${content('redis')} ${secret}`)}`,
      { key },
    )
    const rows = [await database().select().from(memories), await database().select().from(retrievalEvents)]
    expect(rows.map(({ length }) => length)).toEqual([3, 3])
    // In lower case, tags are kept.
    for (const each of [secret, keyId])
      expect(JSON.stringify(rows).toLowerCase()).not.toContain(each.toLowerCase())
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
    const operation = fc.constantFrom(
      'get',
      'find',
      'put',
      'touch',
      'remove',
      'remove-all',
      'commit',
      'sweep',
      'stats',
      'stamp',
    )
    const call = fc.oneof(
      fc.record({
        method: fc.constant('POST'),
        path: fc.tuple(scope, operation).map(([at, name]) => `private/${encodeURIComponent(at)}/${name}`),
        body: fc.record(
          {
            key: place,
            namespace: place,
            tenant: fc.constant(victim.id),
            agent_id: fc.constant(victim.id),
            archived: fc.boolean(),
            text: fc.constantFrom(word, 'private'),
            keys: fc.array(place, { maxLength: 2 }),
            changes: place.map((key) => [{ remove: key }]),
            entry: place.map((key) => ({ key, value: 'mine' })),
            now: fc.constantFrom(0, 1e15),
            limit: fc.constantFrom(1, 1000),
          },
          { requiredKeys: [] },
        ),
      }),
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
