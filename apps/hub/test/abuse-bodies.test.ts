import { gzipSync } from 'node:zlib'
import { MemoryErrorCode } from '@recall/core'
import { memories } from '@recall/store-postgres'
import { beforeEach, describe, expect, it } from 'vitest'
import { tags } from './support/abuse-content.ts'
import { engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

describe.each(engines)('bodies that abuse the hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database())
  })

  const post = (path: string, key: string, body: unknown): Promise<Response> =>
    hub.request('POST', `/api/v1/${path}`, { key, body })

  it('looks at nothing else in a text that is too long', async () => {
    const { key } = await hub.agent('ada', 1)
    const answer = await post('memory', key, { content: 'a\u0000'.repeat(10_001), tags })
    const problem = (await answer.json()) as { errors: object[] }
    expect(problem.errors).toEqual([
      { pointer: '#/content', detail: expect.stringContaining('must have at most 20000 characters') },
    ])
  })

  it('refuses what is too large or too deep, and says so', async () => {
    const { key } = await hub.agent('ada', 1)
    const large = JSON.stringify({ content: 'x'.repeat(10 * 1024 * 1024), tags })
    const answer = await post('memory', key, large)
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({
      code: MemoryErrorCode.QUOTA_EXCEEDED,
      detail: expect.stringMatching(/the \d+ bytes .* send less at once, and split a batch/),
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
    for (const path of ['/api/v1/memory', '/mcp']) {
      const compressed = await hub.fetch(
        new Request(`http://localhost${path}`, {
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
    }
    const plainly = { 'Content-Type': 'application/json', 'Content-Encoding': 'Identity' }
    expect((await hub.request('POST', '/api/v1/memory', { key, body: {}, headers: plainly })).status).toBe(
      400,
    )
    for (const body of ['', '{', 'null', '[]', '"text"', '{"content": 1e999}', '\u0000']) {
      expect([body, (await post('memory', key, body)).status]).toEqual([body, 400])
    }
  })

  it.each(['DELETE', 'QUERY'])('refuses what is too large, also of a call by %s', async (method) => {
    const { key } = await hub.agent('ada', 1)
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const body = 'x'.repeat(10 * 1024 * 1024)
    const answer = await hub.fetch(new Request('http://localhost/mcp', { method, headers, body }))
    expect(answer.status).toBe(413)
  })

  const many = <T>(length: number, item: T): T[] => Array.from({ length }, () => item)
  const entry = (more: object) => ({ key: 'k', value: 1, ...more })

  it.each<[path: string, body: object, pointer: string]>([
    ['memory', { content: 'x', tags: many(1_000_000, 1) }, '#/tags'],
    ['memory', { content: 'x', tags: many(60, 1) }, '#/tags/0'],
    ['memory', { content: 'x', tags: ['a', '', 1] }, '#/tags/1'],
    ['private/working/put', { entry: entry({ tags: many(1_000_000, '') }) }, '#/entry/tags'],
    ['private/working/put', { entry: entry({ tags: many(256, '') }) }, '#/entry/tags/0'],
    [
      'private/working/put',
      { entry: entry({ embedding: { model: 'm', vector: many(1000, '1') } }) },
      '#/entry/embedding/vector/0',
    ],
    [
      'private/working/commit',
      { changes: many(9000, { put: entry({ tags: many(250, 1) }) }) },
      '#/changes/0/put/tags/0',
    ],
    ['private/working/get-many', { keys: many(1_000_000, 1) }, '#/keys'],
    [
      'private/working/find',
      { filter: { kind: 'compare', path: many(1_000_000, 1), operator: 'eq', operand: 1 } },
      '#/filter/path',
    ],
  ])('tells the first wrong item of a list alone: of %s %#', async (path, body, pointer) => {
    const { key } = await hub.agent('ada', 1)
    const answer = await post(path, key, body)
    const { errors, detail } = (await answer.json()) as { errors: { pointer: string }[]; detail: string }
    expect([answer.status, errors.filter((each) => each.pointer !== '#/content')]).toMatchObject([
      400,
      [{ pointer }],
    ])
    expect(detail.length).toBeLessThan(1000)
  })

  it('counts what it refuses', async () => {
    const two = [{ requests: 2, seconds: 60 }]
    const tier = { write: two, search: two, get: two }
    const limits = { ...noLimits.limits, private: two, tiers: { unverified: tier } }
    const strict = await openHub(database(), { limits })
    const { key } = await strict.agent('ada')
    const statuses = async (method: string, path: string, body?: unknown) => {
      const answered: number[] = []
      for (let i = 0; i < 3; i++)
        answered.push((await strict.request(method, `/api/v1/${path}`, { key, body })).status)
      return answered
    }
    expect(await statuses('POST', 'memory', { content: 1 })).toEqual([400, 400, 429])
    expect(await statuses('GET', 'memory/search')).toEqual([400, 400, 429])
    expect(await statuses('POST', 'private/working/put', '{')).toEqual([400, 400, 429])
    const other = await strict.agent('bob')
    const asAdministrator = async () =>
      (await strict.request('GET', '/api/v1/admin/agents', { key: other.key })).status
    expect([await asAdministrator(), await asAdministrator(), await asAdministrator()]).toEqual([
      403, 403, 429,
    ])
  })

  it.each(['latin1', 'utf16le'] as const)(
    'keeps no text in another encoding than UTF-8: %s',
    async (encoding) => {
      const { key } = await hub.agent('ada', 1)
      const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }
      const said = 'In the café the naïve façade was found to be of no use under load. '
      for (const [path, body] of [
        ['api/v1/memory', { content: said.repeat(3), tags }],
        ['api/v1/private/long-term/put', { entry: { key: 'k', value: said } }],
        ['api/v1/agents/register', { name: 'André' }],
        [
          'mcp',
          {
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'hub_save', arguments: { content: said.repeat(3), tags } },
          },
        ],
      ] as const) {
        const answer = await hub.fetch(
          new Request(`http://localhost/${path}`, {
            method: 'POST',
            headers: { ...headers, Authorization: `Bearer ${key}` },
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

  it.each(['%ff%fe', '%E0%A4%A', '100%', 'why?%ff'])(
    'looks for no text that cannot be decoded: %s',
    async (query) => {
      const { key } = await hub.agent('ada')
      const answer = await hub.request('GET', `/api/v1/memory/search?q=pool&q2=${query}`, { key })
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: MemoryErrorCode.INVALID_INPUT },
      ])
      expect((await hub.request('GET', '/api/v1/memory/search?q=caf%C3%A9+100%25', { key })).status).toBe(200)
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
})
