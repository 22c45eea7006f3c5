import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDrainingStdio } from '../src/draining-stdio.ts'
import { createMcpFetch } from '../src/index.ts'
import { hubInstructions, instructions } from '../src/instructions.ts'
import { sampleOptions, writeSession } from './support.ts'

const child = fileURLToPath(new URL('stdio-child.ts', import.meta.url))

const eras = { legacy: 'legacy', modern: { pin: '2026-07-28' } } as const
type Era = keyof typeof eras

async function connect(transport: 'stdio' | 'http', era: Era): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: eras[era] } })
  onTestFinished(() => client.close())
  if (transport === 'stdio') {
    const args = ['--import', 'tsx', '-C', '@recall/source', child]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' }))
  } else {
    const options = await sampleOptions()
    const server = createMcpFetch({ optionsFor: () => options })
    const url = new URL('http://localhost/mcp')
    await client.connect(
      new StreamableHTTPClientTransport(url, {
        fetch: (to, init) => {
          const request = new Request(to, init)
          request.headers.set('host', 'localhost')
          return server.fetch(request)
        },
      }),
    )
  }
  return client
}

const call = (client: Client, name: string, args: Record<string, unknown>) =>
  client.callTool({ name, arguments: args })
const textOf = (result: Awaited<ReturnType<typeof call>>): string =>
  (result.content as { text: string }[]).map(({ text }) => text).join('')

describe.each([
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
  ['http', 'legacy'],
  ['http', 'modern'],
] as const)('over %s in the %s era', (transport, era) => {
  it('a client goes through every tool', async () => {
    const client = await connect(transport, era)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'memory_search',
      'memory_remember',
      'memory_read',
      'memory_forget',
      'session_context',
      'hub_search',
      'hub_save',
      'hub_cite',
    ])
    for (const { annotations, description, outputSchema } of tools) {
      expect(annotations).toMatchObject({
        openWorldHint: expect.any(Boolean),
        readOnlyHint: expect.any(Boolean),
      })
      expect(outputSchema).toBeDefined()
      expect(Buffer.byteLength(description ?? '')).toBeLessThan(2048)
    }
    expect(client.getInstructions()).toBe(instructions + hubInstructions)

    // The client checks each result against its schema.
    const found = await call(client, 'memory_search', { query: 'orders pool' })
    expect(found.structuredContent).toMatchObject({ mode: 'lexical', results: [{ key: 'fact:pool' }, {}] })
    expect(textOf(found)).toMatch(/^<recalled-memory /)
    expect(found.structuredContent).toMatchObject({
      results: [{}, { beside: expect.stringMatching(/^<recalled-memory [^>]*>\nx{300}\n</) }],
    })
    expect(found.structuredContent).not.toMatchObject({ results: [{ beside: expect.anything() }, {}] })
    const { confidence } = found.structuredContent as { confidence: number }
    expect(confidence).toBeGreaterThan(0.15)
    const asked = { query: 'orders pool', scope: 'long-term', minConfidence: confidence - 0.001 }
    expect((await call(client, 'memory_search', asked)).structuredContent).toMatchObject({ confidence })
    const unsure = await call(client, 'memory_search', { ...asked, minConfidence: confidence + 0.001 })
    expect(unsure.structuredContent).toEqual({ results: [] })

    const kept = await call(client, 'memory_remember', { text: 'Ana prefers tabs.', tags: ['people'] })
    const { key } = kept.structuredContent as { key: string }
    await call(client, 'memory_remember', { text: 'Ana prefers tabs.' })
    const read = await call(client, 'memory_read', { key, scope: 'long-term' })
    expect(read.structuredContent).toMatchObject({
      text: expect.stringContaining('Ana prefers tabs.'),
      length: 17,
    })

    const first = (await call(client, 'memory_read', { key: 'conversation:s1', scope: 'episodic' }))
      .structuredContent as { nextOffset: number; length: number }
    const rest = await call(client, 'memory_read', {
      key: 'conversation:s1',
      scope: 'episodic',
      offset: first.nextOffset,
    })
    expect(rest.structuredContent).not.toHaveProperty('nextOffset')

    const context = await call(client, 'session_context', {})
    expect(context.structuredContent).toMatchObject({
      sessions: [{ sessionId: 's1', summary: expect.stringContaining('<recalled-memory ') }],
    })

    const shared = await call(client, 'hub_search', { query: 'anything' })
    expect(shared.structuredContent).toMatchObject({
      results: [
        {
          id: 'RCL-1',
          author: 'mallory',
          score: 0.9,
          text: expect.stringMatching(/^<recalled-memory source="hub, written by mallory" /),
        },
      ],
    })
    const lesson = { content: 'The pool leaked until the retry released it.', tags: ['pool', 'leak'] }
    expect((await call(client, 'hub_save', lesson)).structuredContent).toEqual({
      id: 'RCL-2',
      status: 'queued',
      similar: [{ id: 'RCL-1', relation: 'similar' }],
      warnings: ['there is no source_url'],
    })
    expect((await call(client, 'hub_cite', { id: 'RCL-1' })).structuredContent).toEqual({
      id: 'RCL-1',
      cited: true,
    })

    expect(
      (await call(client, 'memory_forget', { key, scope: 'long-term' })).structuredContent,
    ).toMatchObject({ forgotten: true })
    const gone = await call(client, 'memory_read', { key, scope: 'long-term' })
    expect(gone.isError).toBe(true)
    expect(textOf(gone)).toContain('memory_search')
  })

  it('tells what is wrong with arguments, and goes on', async () => {
    const client = await connect(transport, era)
    for (const [name, args] of [
      ['memory_search', {}],
      ['memory_search', { query: 'x'.repeat(5000) }],
      ['memory_search', { query: 'pool', limit: 10_000 }],
      ['memory_search', { query: 'pool', scope: '../../etc' }],
      ['memory_search', { query: 'pool', minConfidence: 2 }],
      ['memory_search', { query: ' ', minConfidence: 0.15 }],
      ['hub_search', { query: 'x'.repeat(501) }],
      ['memory_read', { key: 'a\u0000b', scope: 'long-term' }],
      ['memory_read', { key: 'fact:pool', scope: 'long-term', offset: 1e6 }],
      ['memory_remember', { text: 'other', key: 'fact:pool' }],
      ['memory_remember', { text: ' \n' }],
      ['memory_forget', { key: 'nothing', scope: 'long-term' }],
    ] as const) {
      const result = await call(client, name, args)
      expect(result.isError, `${name} ${JSON.stringify(args).slice(0, 60)}`).toBe(true)
      expect(textOf(result).length).toBeGreaterThan(20)
      expect(textOf(result).length).toBeLessThan(2000)
    }
    expect((await call(client, 'memory_search', { query: 'orders pool' })).isError).toBeFalsy()
  })
})

it('says of a key that is taken only what the tool can do about it', async () => {
  const server = createMcpFetch({ optionsFor: sampleOptions })
  const args = { text: 'other', key: 'fact:pool' }
  const request = modern('tools/call', { name: 'memory_remember', arguments: args }, 'memory_remember')
  expect(await (await server.fetch(request)).json()).toMatchObject({
    result: {
      isError: true,
      content: [
        {
          text: "'fact:pool' is kept already: choose another key, or set replace to true to overwrite it. Change the arguments and call the tool again.",
        },
      ],
    },
  })
})

it('no secret travels to a hub, wherever it stands', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const options = await sampleOptions()
  const asked: string[] = []
  const hub = {
    ...(options.hub as NonNullable<typeof options.hub>),
    async search(question: string) {
      asked.push(question)
      return []
    },
  }
  const server = createMcpFetch({ optionsFor: () => ({ ...options, hub }) })
  const send = async (name: string, args: Record<string, unknown>) =>
    (await server.fetch(modern('tools/call', { name, arguments: args }, name))).text()
  await send('hub_search', { query: `why does ${secret} not work` })
  const saved = await send('hub_save', {
    content: 'The pool leaked until the retry released it.',
    tags: ['pool', secret],
    source_url: `https://example.com/run?log=${secret}`,
  })
  expect(saved).toContain('a secret was replaced before anything was sent: github')
  expect(options.saved).toHaveLength(1)
  expect(asked).toHaveLength(1)
  expect(JSON.stringify([asked, options.saved])).not.toContain(secret)
})

it('tells an agent no secret that somebody typed into a file, also where a text is cut', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const memory = createMemoryManager({ stores: createInMemoryStore(), redact: 'allow' })
  for (const length of [10, 670, 690]) {
    const text = `The orders pool ${'waits '.repeat(200)}`.slice(0, length)
    await memory.write('long-term', `pool:${length}`, `${text} ${secret} is its token.`)
  }
  await writeSession(memory, `Used ${secret}.`)
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const send = async (name: string, args: Record<string, unknown>) =>
    (await server.fetch(modern('tools/call', { name, arguments: args }, name))).text()
  const told = [
    await send('memory_search', { query: 'orders pool' }),
    await send('memory_read', { key: 'pool:10', scope: 'long-term' }),
    await send('session_context', {}),
  ]
  for (const each of told) expect(each).toContain('[redacted:github]')
  expect(told.join()).not.toContain(secret.slice(0, 10))
})

it('tells an agent no secret that a hub took for none, also where a text is cut', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const content = `${'The pool waits. '.repeat(61)}${secret} is its token.`
  const options = await sampleOptions()
  const hub = {
    ...(options.hub as NonNullable<typeof options.hub>),
    search: async () => [{ short_id: 'RCL-1', content, author: { name: 'mallory' }, similarity: 0.9 }],
  }
  const server = createMcpFetch({ optionsFor: () => ({ ...options, hub }) })
  const request = modern('tools/call', { name: 'hub_search', arguments: { query: 'pool' } }, 'hub_search')
  const told = await (await server.fetch(request)).text()
  expect(told).toContain('[redacted:github]')
  expect(told).not.toContain(secret.slice(0, 10))
})

it('remembers the same words again with the tags of both', async () => {
  const options = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const remember = async (args: Record<string, unknown>) => {
    const request = modern('tools/call', { name: 'memory_remember', arguments: args }, 'memory_remember')
    const { result } = (await (await server.fetch(request)).json()) as {
      result: { structuredContent: { key: string } }
    }
    return result.structuredContent.key
  }
  const key = await remember({ text: 'Ana prefers tabs.', tags: ['people'] })
  expect(await remember({ text: 'Ana prefers tabs.', tags: ['editor'] })).toBe(key)
  const record = await options.memory.read('long-term', key, { includeMetadata: true })
  expect(record?.metadata.tags).toEqual(['people', 'editor'])
})

it('tells of the sessions although another value has their type', async () => {
  const options = await sampleOptions()
  await options.memory.write('short-term', 'other', { type: 'session-summary', note: 1 })
  const server = createMcpFetch({ optionsFor: () => options })
  const request = modern('tools/call', { name: 'session_context', arguments: {} }, 'session_context')
  expect(await (await server.fetch(request)).json()).toMatchObject({
    result: { structuredContent: { sessions: [{ sessionId: 's1' }] } },
  })
})

it('tells of the latest sessions although the date of one cannot be read', async () => {
  let now = 0
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => ++now })
  await writeSession(memory, 'first', { sessionId: 'first', date: '2026-03-01T10:00:00Z' })
  await writeSession(memory, 'undated', { sessionId: 'undated', date: 'on a Monday' })
  await writeSession(memory, 'last', { sessionId: 'last', date: '2026-03-09T10:00:00Z' })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const request = modern(
    'tools/call',
    { name: 'session_context', arguments: { sessions: 2 } },
    'session_context',
  )
  const { result } = (await (await server.fetch(request)).json()) as {
    result: { structuredContent: { sessions: { sessionId: string }[] } }
  }
  expect(result.structuredContent.sessions.map(({ sessionId }) => sessionId)).toEqual(['first', 'last'])
})

it('without a hub there are no tools for one', async () => {
  const { hub: _, ...options } = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const answer = await server.fetch(modern('tools/list', {}))
  const { result } = (await answer.json()) as { result: { tools: { name: string }[]; cacheScope: string } }
  expect(result.tools).toHaveLength(5)
  expect(result.cacheScope).toBe('private')
})

it('each request sees the memory of who asks', async () => {
  const [ana, bo] = [await sampleOptions(), await sampleOptions()]
  await ana.memory.write('long-term', 'secret', 'the walrus sleeps')
  const server = createMcpFetch({ optionsFor: (principal) => (principal === 'ana' ? ana : bo) })
  const count = async (principal: string): Promise<number> => {
    const request = modern(
      'tools/call',
      { name: 'memory_search', arguments: { query: 'walrus' } },
      'memory_search',
    )
    const answer = (await (await server.fetch(request, principal)).json()) as {
      result: { structuredContent: { results: unknown[] } }
    }
    return answer.result.structuredContent.results.length
  }
  expect([await count('ana'), await count('bo')]).toEqual([1, 0])
})

describe('foreign requests', () => {
  it.each([
    ['a foreign host', { host: 'evil.example' }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an origin that is none', { origin: 'null' }],
  ])('%s gets 403', async (_, headers) => {
    const options = await sampleOptions()
    const server = createMcpFetch({ optionsFor: () => options })
    const answer = await server.fetch(modern('tools/list', {}, undefined, headers))
    expect(answer.status).toBe(403)
  })

  it('only POST is answered, and a body over 4 MiB is not', async () => {
    const options = await sampleOptions()
    const server = createMcpFetch({ optionsFor: () => options })
    expect(
      (await server.fetch(new Request('http://localhost/mcp', { headers: { host: 'localhost' } }))).status,
    ).toBe(405)
    const large = modern(
      'tools/call',
      { name: 'memory_search', arguments: { query: 'x'.repeat(5 << 20) } },
      'memory_search',
    )
    expect((await server.fetch(large)).status).toBe(413)
  })
})

it('shares no secret with a hub, and says that there was one', async () => {
  const options = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const token = `ghp_${'a1B2'.repeat(9)}`
  const lesson = {
    content: `The push failed until the token ${token} was renewed.`,
    tags: ['git', 'token'],
    source_url: 'https://example.com/42',
  }
  const answer = await server.fetch(modern('tools/call', { name: 'hub_save', arguments: lesson }, 'hub_save'))
  const text = await answer.text()
  expect(text).toContain('a secret was replaced before anything was sent')
  expect(options.saved).toMatchObject([{ tags: lesson.tags, source_url: lesson.source_url }])
  expect(JSON.stringify(options.saved) + text).not.toContain(token)
})

it('no arguments bring it down', async () => {
  const options = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        'memory_search',
        'memory_read',
        'memory_remember',
        'memory_forget',
        'session_context',
        'hub_search',
        'hub_save',
      ),
      fc.dictionary(
        fc.constantFrom(
          'query',
          'key',
          'scope',
          'text',
          'content',
          'limit',
          'offset',
          'tags',
          'minConfidence',
        ),
        fc.jsonValue(),
      ),
      async (name, args) => {
        const answer = await server.fetch(modern('tools/call', { name, arguments: args }, name))
        const { result, error } = (await answer.json()) as {
          result?: { content: unknown }
          error?: { code: number }
        }
        expect(result?.content ?? error?.code).toBeDefined()
        expect(error?.code).not.toBe(-32603)
      },
    ),
    { numRuns: 150 },
  )
})

it('answers what was asked before the input ended, and leaves then', async () => {
  const args = ['--import', 'tsx', '-C', '@recall/source', child]
  const server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const clientInfo = { name: 'test', version: '1' }
  const request = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
  server.stdin.end(
    request(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }) +
      request(2, 'tools/call', { name: 'hub_search', arguments: { query: 'slow' } }) +
      request(3, 'tools/call', { name: 'memory_remember', arguments: { text: 'kept', key: 'k' } }) +
      // Nothing is owed for these.
      request(4, 'tools/call', { name: 'hub_search', arguments: { query: 'slow' } }) +
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 4 } })}\n` +
      'no JSON\n{"jsonrpc":',
  )
  const answers: { id: number }[] = []
  for await (const line of createInterface(server.stdout)) answers.push(JSON.parse(line))
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3])
})

it('answers what was asked before the input broke, and leaves then', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  const errors: Error[] = []
  transport.onerror = (error) => errors.push(error)
  transport.onmessage = () => {
    stdin.destroy(new Error('the terminal is gone'))
    stdin.once('close', () => void transport.send({ jsonrpc: '2.0', id: 1, result: {} }))
  }
  await transport.start()
  stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await ended
  expect(String(stdout.read())).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
  expect(errors).toMatchObject([{ message: 'the terminal is gone' }])
})

it.each([
  ['a text', 'The heron stood in the reeds.', 'The heron stood in the reeds.'],
  [
    'a record with a key of its own, whole',
    { key: 'heron', body: 'It stood in the reeds.', count: 2 },
    '{\n  "key": "heron",\n  "body": "It stood in the reeds.",\n  "count": 2\n}',
  ],
])('finds, reads and forgets what was archived for its age: %s', async (_, value, text) => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })
  await memory.write('episodic', 'old', value)
  now += 100 * 24 * 3600 * 1000
  expect(await memory.cleanup({ scope: 'episodic' })).toMatchObject({ archived: 1 })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const answerOf = async (name: string, args: object) => {
    const response = await server.fetch(modern('tools/call', { name, arguments: args }, name))
    return ((await response.json()) as { result: { structuredContent?: object; isError?: boolean } }).result
  }
  const old = { key: 'old', scope: 'episodic' }
  expect(await answerOf('memory_search', { query: 'heron' })).toMatchObject({
    structuredContent: { results: [] },
  })
  expect(await answerOf('memory_search', { query: 'heron', archived: true })).toMatchObject({
    structuredContent: { results: [{ ...old, archived: true }] },
  })
  expect(await answerOf('memory_read', old)).toMatchObject({
    structuredContent: { text: expect.stringContaining(`\n${text}\n`), length: text.length },
  })
  expect(await answerOf('memory_forget', old)).toMatchObject({ structuredContent: { forgotten: true } })
  expect(await answerOf('memory_read', old)).toMatchObject({ isError: true })
})

it('does not take a search for nothing for one for everything', async () => {
  const server = createMcpFetch({ optionsFor: sampleOptions })
  const request = modern(
    'tools/call',
    { name: 'memory_search', arguments: { query: ' \n' } },
    'memory_search',
  )
  const { result } = (await (await server.fetch(request)).json()) as { result: { isError: boolean } }
  expect(result.isError).toBe(true)
})

function modern(
  method: string,
  params: Record<string, unknown>,
  name?: string,
  headers: Record<string, string> = {},
): Request {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  }
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  })
}
