import { once } from 'node:events'
import { connect } from 'node:net'
import { connectHub, registerAgent } from '@recall/client'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { type ListeningHub, serveHub } from '../src/serve.ts'
import { noLimits } from './support/open-hub.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let hub: ListeningHub
let key: string
beforeAll(async () => {
  const embedding = { provider: 'fake' as const }
  hub = await serveHub(
    parseConfig({ ...noLimits, dataFolder: temporaryFolder(), port: 0, embedding }),
    () => {},
    { requestTimeout: 8000 },
  )
  key = (await registerAgent({ url: hub.url }, 'ada')).apiKey
})
afterAll(() => hub.close())

/**
 * Opens a connection, sends some bytes and waits until the hub closes it.
 *
 * @param more whether the hub is left to wait for more bytes
 */
const talk = (bytes: string | Uint8Array, more = false): Promise<{ answer: string; tookMs: number }> =>
  new Promise((resolve) => {
    const started = performance.now()
    let answer = ''
    const socket = connect(Number(new URL(hub.url).port), '127.0.0.1', () => {
      if (more) socket.write(bytes)
      else socket.end(bytes)
    })
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
    })
    // A reset is an answer too.
    socket.on('error', () => {})
    socket.on('close', () => resolve({ answer, tookMs: performance.now() - started }))
  })

const head = (path: string, ...lines: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n')
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
const isAlive = async (): Promise<boolean> => (await fetch(`${hub.url}/livez`)).ok

it('cuts callers who never finish, and serves the others meanwhile', async () => {
  const unfinished = [
    'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
    '',
    'POST /api/v1/memory HTTP/1.1\r\n',
  ]
  const body = [
    'POST /api/v1/memory HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Length: 5000',
    '',
    '{"content": "',
  ].join('\r\n')
  const slow = Promise.all(
    Array.from({ length: 200 }, (_, i) => talk(i % 4 === 3 ? body : (unfinished[i % 4] as string), true)),
  )
  const agent = connectHub({ url: hub.url, apiKey: key, retries: 0 })
  for (let i = 0; i < 20; i++) expect((await agent.whoami()).name).toBe('ada')
  const cut = await slow
  // Eight seconds for a request here, and how often the server looks.
  expect(Math.max(...cut.map(({ tookMs }) => tookMs))).toBeLessThan(13_000)
  const { answer } = cut[3] as { answer: string }
  expect(statusOf(answer)).toBe(408)
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status: 408, code: 'MEMORY_TIMEOUT' })
})

it('answers what is no HTTP, or two requests in one, with 400 or not at all', async () => {
  const authorization = `Authorization: Bearer ${key}`
  const broken: [bytes: string, allowed: number[]][] = [
    [head('/livez', 'Content-Length: 5', 'Transfer-Encoding: chunked'), [400]],
    [head('/livez', 'Content-Length: 5', 'Content-Length: 6'), [400]],
    ['GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
    [head('/livez', `X-Large: ${'x'.repeat(20_000)}`), [431]],
    [head('/livez', 'X-Bad: a\u0000b'), [400]],
    [head('/livez', 'X-Bad : space'), [400]],
    [head('/livez', `${authorization}\r\n folded: yes`), [400]],
    [head('/%00'), [404]],
    [head('/api/v1/memory/%ff%fe', authorization), [400, 404]],
    [head('/api/v1/memory/%', authorization), [400, 404]],
    [head('//evil.example/livez'), [403, 404]],
    [head('http://evil.example/livez'), [400, 403]],
    [head('/livez\\..\\x'), [400, 404]],
    ['GET livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', [400, 404]],
    ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000', [400]],
    ['GET / HTTP/9.9\r\n\r\n', [400, 505]],
  ]
  await Promise.all(
    broken.map(async ([bytes, allowed]) => {
      const status = statusOf((await talk(bytes)).answer)
      expect(allowed, `${JSON.stringify(bytes.slice(0, 60))} gave ${status}`).toContain(status)
    }),
  )
  expect(await isAlive()).toBe(true)
})

it('lets no caller write a header of its answer', async () => {
  const injected = '%0d%0aX-Injected:%20yes'
  for (const path of [
    `/api/v1/memory/search?q=a${injected}`,
    `/api/v1/memory/a${injected}`,
    `/${injected}`,
  ]) {
    const { answer } = await talk(head(path, `Authorization: Bearer ${key}`))
    expect(statusOf(answer)).toBeGreaterThan(0)
    expect(answer.slice(0, answer.indexOf('\r\n\r\n'))).not.toMatch(/^x-injected/im)
  }
  const own = head(
    '/api/v1/agents/me',
    `Authorization: Bearer ${key}`,
    'X-Request-Id: a',
    'Idempotency-Key: "b"',
  )
  expect(statusOf((await talk(own)).answer)).toBe(200)
})

it('refuses ten megabytes without keeping them', async () => {
  const size = 10 * 1024 * 1024
  const start = (...lines: string[]): string =>
    [
      'POST /api/v1/memory HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      ...lines,
      '',
      '',
    ].join('\r\n')
  const sized = `${start(`Content-Length: ${size}`)}${'x'.repeat(size)}`
  const chunk = `${(size / 10).toString(16)}\r\n${'x'.repeat(size / 10)}\r\n`
  const chunked = `${start('Transfer-Encoding: chunked')}${chunk.repeat(10)}0\r\n\r\n`
  const send = async (): Promise<number> => {
    for (const request of [sized, chunked]) {
      const { answer } = await talk(request, true)
      expect([statusOf(answer), /^connection: close$/im.test(answer)]).toEqual([413, true])
    }
    return process.memoryUsage.rss()
  }
  for (let i = 0; i < 3; i++) await send()
  const before = await send()
  for (let i = 0; i < 5; i++) await send()
  // A hundred and twenty megabytes came; of what is still uncollected, much is what this test itself sent.
  expect((await send()) - before).toBeLessThan(60 * 1024 * 1024)
})

it('lets an agent send the whole of a body that is too large, and then tells it', async () => {
  const body = 'x'.repeat(12 * 1024 * 1024)
  const lines = [
    'POST /api/v1/memory HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const socket = connect(Number(new URL(hub.url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (part) => {
    answer += part
  })
  const ended = once(socket, 'close')
  const failure = await new Promise((resolve) => {
    socket.on('error', resolve).write(`${lines.join('\r\n')}\r\n\r\n${body}`, resolve)
  })
  expect(failure ?? null).toBe(null)
  await ended
  expect(statusOf(answer)).toBe(413)
})

it('survives any bytes', async () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary-ascii' }),
    fc.constantFrom('Host: localhost', 'Content-Length: 3'),
  )
  const request = fc
    .tuple(
      fc.constantFrom('GET', 'POST', 'PATCH', 'TRACE', 'BREW'),
      fc.webPath(),
      fc.array(line, { maxLength: 6 }),
    )
    .map(([method, path, lines]) =>
      [`${method} ${path || '/'} HTTP/1.1`, 'Connection: close', ...lines, '', 'x'.repeat(10)].join('\r\n'),
    )
  const bytes = fc.oneof(request, fc.uint8Array({ maxLength: 200 }))
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      // Half a request is waited for; a second empty line ends it, whatever it was.
      const { answer } = await talk(
        typeof sent === 'string' ? `${sent}\r\n\r\n` : Buffer.from([...sent, 13, 10, 13, 10]),
      )
      expect(statusOf(answer)).toBeLessThan(500)
    }),
    { numRuns: 200 },
  )
  expect(await isAlive()).toBe(true)
})
