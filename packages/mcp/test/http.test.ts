import { describe, expect, it, vi } from 'vitest'
import { createMcpFetch, createMcpServer } from '../src/index.ts'
import { serveMcp } from '../src/stdio.ts'
import { modern, sampleOptions } from './support.ts'

it('ends a stream that waits for changes, because there are none', async () => {
  const server = createMcpFetch({ optionsFor: sampleOptions })
  const wanted = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
  const answer = await server.fetch(modern('subscriptions/listen', { notifications: wanted }))
  expect(await answer.text()).toMatch(/subscriptions\/acknowledged.*"resultType":"complete"/s)
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

describe('options', () => {
  const refused = (message: string) =>
    expect.objectContaining({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining(message),
    })

  it.each([
    ['memory: must be a memory', { memory: undefined }],
    ['memory: must be a memory', { memory: Promise.resolve() }],
    ['hub: must be a hub', { hub: { search() {} } }],
    ['forget: must be a function', { forget: true }],
    ['notSearched: must be a function', { notSearched: [] }],
    ['version: must be a text', { version: 1 }],
    ['Unrecognized key: "forgets"', { forgets() {} }],
  ])('of a server are refused where %s: %j', async (message, wrong) => {
    const options = { ...(await sampleOptions()), ...wrong } as never
    expect(() => createMcpServer(options)).toThrow(refused(message))
    await expect(serveMcp(options)).rejects.toEqual(refused(message))
  })

  it.each([
    ['optionsFor: must be a function', { optionsFor: undefined }],
    ['Unrecognized key: "memory"', { memory: {} }],
    ['allowedHosts: must be a list', { allowedHosts: 'memory.example.org' }],
    ['allowedOrigins: must be a list', { allowedOrigins: ['https://*'] }],
    ['onError: must be a function', { onError: console }],
  ])('of a handler are refused where %s: %j', (message, wrong) => {
    const options = { optionsFor: sampleOptions, ...wrong } as never
    expect(() => createMcpFetch(options)).toThrow(refused(message))
  })

  it.each([
    null,
    '',
    '*',
    '*.example.org',
    'memory.example.org:8080',
    'https://memory.example.org',
    'Memory.example.org',
    '::1',
  ])('do not allow %j, which is the host name of no request', (name) => {
    const [names, optionsFor] = [['localhost', name] as string[], sampleOptions]
    const message = 'must be a list of host names in small letters, without scheme and port'
    for (const list of [{ allowedHosts: names }, { allowedOrigins: names }])
      expect(() => createMcpFetch({ optionsFor, ...list })).toThrow(refused(message))
  })

  it('are refused where there are none', () => {
    expect(() => createMcpServer(undefined as never)).toThrow(refused('memory: must be a memory'))
    expect(() => createMcpFetch(undefined as never)).toThrow(refused('optionsFor: must be a function'))
  })

  it('name the hosts and the pages that are answered', async () => {
    const options = await sampleOptions()
    const allowedHosts = ['memory.example.org', '[::1]', '10.0.0.7']
    const allowedOrigins = ['app.example.org', 'moz-extension://*']
    const server = createMcpFetch({ optionsFor: () => options, allowedHosts, allowedOrigins })
    const statusOf = async (host: string, origin: string): Promise<number> =>
      (await server.fetch(modern('tools/list', {}, undefined, { host, origin }))).status
    expect(await statusOf('Memory.Example.org:8080', 'https://app.example.org:444')).toBe(200)
    expect(await statusOf('[::1]:80', 'moz-extension://5a1b')).toBe(200)
    expect(await statusOf('10.0.0.7', 'https://other.example.org')).toBe(403)
    expect(await statusOf('localhost', 'https://app.example.org')).toBe(403)
  })
})

describe('a request that fails', () => {
  const nobody = new Error('there is nobody of this name')
  it.each([
    ['throws', () => Promise.reject(nobody), nobody.message],
    ['gives nothing', () => undefined, 'options.memory: must be a memory'],
    ['gives no memory', () => ({ memory: undefined }), 'options.memory: must be a memory'],
  ])(
    'is told to who runs the server, and not to the caller, where optionsFor %s',
    async (_, optionsFor, told) => {
      const onError = vi.fn(() => Promise.reject(new Error('no room in the log')))
      const server = createMcpFetch({ optionsFor: optionsFor as never, onError })
      for (const request of [modern('tools/list', {}), legacy('tools/list')]) {
        const answer = await server.fetch(request)
        expect(answer.status).toBe(500)
        expect(await answer.text()).not.toContain(told)
      }
      const error = expect.objectContaining({ message: expect.stringContaining(told) })
      expect(onError.mock.calls).toEqual([[error], [error]])
    },
  )

  it('is refused as closed after the server was closed', async () => {
    const server = createMcpFetch({ optionsFor: sampleOptions })
    await server.close()
    await expect(server.fetch(modern('tools/list', {}))).rejects.toMatchObject({ code: 'MEMORY_CLOSED' })
    await server.close()
  })
})

/** A request of the era before, as a client sends it over HTTP. */
const legacy = (method: string): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
  })
