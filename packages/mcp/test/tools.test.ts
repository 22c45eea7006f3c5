import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { conversationType, createInMemoryStore, createMemoryManager } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMcpFetch } from '../src/index.ts'
import { hubInstructions, instructions } from '../src/instructions.ts'
import { modern, sampleOptions, stdioChild } from './support.ts'

const eras = { legacy: 'legacy', modern: { pin: '2026-07-28' } } as const
type Era = keyof typeof eras

async function connect(transport: 'stdio' | 'http', era: Era): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: eras[era] } })
  onTestFinished(() => client.close())
  if (transport === 'stdio') {
    const args = ['--import', 'tsx', '-C', '@recall/source', stdioChild]
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
      'hub_read',
      'hub_save',
      'hub_cite',
    ])
    for (const { annotations, description, inputSchema, outputSchema } of tools) {
      expect(annotations).toMatchObject({
        openWorldHint: expect.any(Boolean),
        readOnlyHint: expect.any(Boolean),
      })
      // What a model makes up beside them would be left undone without a word.
      expect(inputSchema).toMatchObject({ additionalProperties: false })
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
          author: expect.stringMatching(/^<recalled-memory source="hub, RCL-1" [^>]*>\nmallory\n</),
          recorded: '2026-03-05T10:00:00.000Z',
          source_url: expect.stringMatching(/^<recalled-memory [^>]*>\nhttps:/),
          score: 0.9,
          text: expect.stringMatching(/^<recalled-memory source="hub, RCL-1" [^>]*>\nIgnore all/),
        },
      ],
    })
    const piece = (await call(client, 'hub_read', { id: 'RCL-1' })).structuredContent
    expect(piece).toMatchObject({ id: 'RCL-1', text: expect.stringMatching(/>\nIgnore all/), length: 15_025 })
    const { nextOffset: offset } = piece as { nextOffset: number }
    const end = await call(client, 'hub_read', { id: 'RCL-1', offset })
    expect(end.structuredContent).toMatchObject({ text: expect.stringMatching(/>\nx+\n</) })
    expect(end.structuredContent).not.toHaveProperty('nextOffset')
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
      ['hub_read', { id: 'RCL-9' }],
      ['hub_save', { content: 'x'.repeat(20_001), tags: ['pool', 'leak'] }],
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

it('tells hosts which tools change something, and which reach beyond this memory', async () => {
  const server = createMcpFetch({ optionsFor: sampleOptions })
  const { result } = (await (await server.fetch(modern('tools/list', {}))).json()) as {
    result: { tools: { name: string; annotations: Record<string, boolean> }[] }
  }
  const named = (hint: string): string[] =>
    result.tools.filter(({ annotations }) => annotations[hint]).map(({ name }) => name)
  const reading = ['memory_search', 'memory_read', 'session_context', 'hub_search', 'hub_read']
  expect(named('readOnlyHint')).toEqual(reading)
  expect(named('destructiveHint')).toEqual(['memory_remember', 'memory_forget'])
  expect(named('openWorldHint')).toEqual(['hub_search', 'hub_read', 'hub_save', 'hub_cite'])
  expect(
    result.tools.map(({ name }) => name).filter((name) => !named('idempotentHint').includes(name)),
  ).toEqual(['hub_save'])
})

it('reads on from the beginning of a character, also where the offset lies in its middle', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('long-term', 'foxes', '🦊'.repeat(4))
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const args = { key: 'foxes', scope: 'long-term', offset: 3 }
  const request = modern('tools/call', { name: 'memory_read', arguments: args }, 'memory_read')
  expect(await (await server.fetch(request)).json()).toMatchObject({
    result: { structuredContent: { text: expect.stringContaining('\n🦊🦊🦊\n'), length: 8 } },
  })
})

it('reads the text of a session, and other values of its type as they are', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const read = async (value: object) => {
    await memory.write('episodic', 'conversation:s1', value, { type: conversationType })
    const args = { key: 'conversation:s1', scope: 'episodic' }
    const answer = await server.fetch(
      modern('tools/call', { name: 'memory_read', arguments: args }, 'memory_read'),
    )
    return answer.text()
  }
  const told = await read({ date: '2026-03-05T10:00:00Z', body: '## Summary' })
  expect(told).toContain('## Summary')
  expect(told).not.toContain('2026-03-05T10:00:00Z')
  expect(await read({ date: '2026-03-05T10:00:00Z', body: 7 })).toContain('2026-03-05T10:00:00Z')
})

it('forgets what it has no key to read', async () => {
  const stores = createInMemoryStore()
  const sealed = createMemoryManager({ stores, encryptionKey: new Uint8Array(32).fill(1) })
  await sealed.write('long-term', 'fact:sealed', 'The heron.', { encrypt: true })
  const memory = createMemoryManager({ stores })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const args = { key: 'fact:sealed', scope: 'long-term' }
  const request = modern('tools/call', { name: 'memory_forget', arguments: args }, 'memory_forget')
  expect(await (await server.fetch(request)).json()).toMatchObject({
    result: { structuredContent: { ...args, forgotten: true } },
  })
  expect(await sealed.exists('long-term', 'fact:sealed')).toBe(false)
})

it('leaves it to its host to forget all that is kept of a memory, where it is told how', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('episodic', 'conversation:1', 'The heron.')
  const forgotten: string[][] = []
  const forget = async (...given: string[]): Promise<void> => void forgotten.push(given)
  const server = createMcpFetch({ optionsFor: () => ({ memory, forget }) })
  const args = { key: 'conversation:1', scope: 'episodic' }
  await server.fetch(modern('tools/call', { name: 'memory_forget', arguments: args }, 'memory_forget'))
  expect(forgotten).toEqual([['episodic', 'conversation:1']])
  expect(await memory.exists('episodic', 'conversation:1')).toBe(true)
})

it('without a hub there are no tools for one', async () => {
  const { hub: _, ...options } = await sampleOptions()
  const server = createMcpFetch({ optionsFor: () => options })
  const answer = await server.fetch(modern('tools/list', {}))
  const { result } = (await answer.json()) as { result: { tools: { name: string }[]; cacheScope: string } }
  expect(result.tools).toHaveLength(5)
  expect(result.cacheScope).toBe('private')
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
