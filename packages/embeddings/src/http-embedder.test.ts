import { getEventListeners } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { MemoryErrorCode, refusesText } from '@recall/core'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { httpEmbedder } from './http-embedder.ts'

type Answer = { status?: number; body?: unknown; headers?: Record<string, string>; hang?: boolean }

let server: Server | undefined
const requests: { input: string[]; authorization: string | undefined }[] = []

/** A real server that gives the answers in turn, the last one for ever. */
async function serve(...answers: ((input: string[]) => Answer)[]): Promise<string> {
  requests.length = 0
  const started = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const { input } = JSON.parse(text)
      requests.push({ input, authorization: request.headers.authorization })
      const answer = (answers[requests.length - 1] ?? answers.at(-1))?.(input) ?? {}
      if (answer.hang) return
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/v1`
}

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Answers in reverse order, as servers may. */
const good = (input: string[]): Answer => ({
  body: { data: input.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse() },
})
const options = (url: string) => ({ url, model: 'm', dimensions: 2, backoff: () => 0 })

it('batches, keeps the order and brings vectors to unit length', async () => {
  const url = await serve(good)
  const embedder = httpEmbedder({ ...options(url), maxBatch: 2, apiKey: 'k', prefixes: { query: 'q: ' } })
  const vectors = await embedder.embed(['a', 'bbb', 'cc'], 'document')
  expect(vectors.map(([x, y]) => Math.round((x as number) / (y as number)))).toEqual([1, 3, 2])
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 6)
  expect(requests.map(({ input }) => input)).toEqual([['a', 'bbb'], ['cc']])
  expect(requests[0]?.authorization).toBe('Bearer k')
  await embedder.embed(['a'], 'query')
  expect(requests.at(-1)?.input).toEqual(['q: a'])
})

it('repeats nothing of an answer that is not JSON', async () => {
  const url = await serve(([text]) => ({ body: `cannot embed ${text}` }))
  const failed = await httpEmbedder({ ...options(url), retries: 0 })
    .embed(['a private text'], 'document')
    .catch((error: unknown) => error as Error)
  expect(failed).toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'the answer of the embedding server is not JSON',
  })
  expect((failed as Error).cause).toBeUndefined()
})

it('tries again after 429, 5xx and a broken answer', async () => {
  const url = await serve(
    () => ({ status: 429, body: '', headers: { 'retry-after': '0' } }),
    () => ({ status: 503, body: '' }),
    () => ({ body: '{"data": [' }),
    good,
  )
  expect(await httpEmbedder(options(url)).embed(['a'], 'document')).toHaveLength(1)
  expect(requests).toHaveLength(4)
})

it.each([
  [MemoryErrorCode.RATE_LIMITED, { status: 429, body: 'slow down' }, 4],
  [MemoryErrorCode.UNAVAILABLE, { status: 500, body: '' }, 4],
  [MemoryErrorCode.UNAUTHENTICATED, { status: 401, body: 'no' }, 1],
  [MemoryErrorCode.UNAUTHENTICATED, { status: 403, body: 'no' }, 1],
  [MemoryErrorCode.UNAVAILABLE, { status: 400, body: 'bad model' }, 2],
  [MemoryErrorCode.UNAVAILABLE, { body: { data: [] } }, 1],
  [MemoryErrorCode.UNAVAILABLE, { body: { embeddings: [[1, 2]] } }, 1],
  [MemoryErrorCode.UNAVAILABLE, { body: { data: [{ index: 0, embedding: [1, 2, 3] }] } }, 1],
  [MemoryErrorCode.UNAVAILABLE, { body: { data: [{ index: 5, embedding: [1, 2] }] } }, 1],
  [MemoryErrorCode.UNAVAILABLE, { body: { data: [{ index: 0, embedding: [0, 0] }] } }, 1],
] as const)('says %s for %j', async (code, answer, tries) => {
  const url = await serve(() => answer)
  await expect(httpEmbedder(options(url)).embed(['a'], 'document')).rejects.toMatchObject({ code })
  expect(requests).toHaveLength(tries)
})

it('takes vectors without an index in the order of the texts', async () => {
  const url = await serve((input) => ({
    body: { data: input.map((text) => ({ embedding: [text.length, 1] })) },
  }))
  const vectors = await httpEmbedder(options(url)).embed(['a', 'bbb'], 'document')
  expect(vectors.map(([x, y]) => Math.round((x as number) / (y as number)))).toEqual([1, 3])
})

it('tries again after an answer that is broken off, and says so at last', async () => {
  let asked = 0
  const fetch = async () => {
    asked++
    return new Response(new ReadableStream({ start: (body) => body.error(new Error('reset')) }))
  }
  const embedder = httpEmbedder({ ...options('http://localhost/v1'), fetch, retries: 1 })
  await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'the embedding server broke off its answer',
  })
  expect(asked).toBe(2)
})

it('tries again after a refusal whose body is broken off', async () => {
  const broken = (): Response =>
    new Response(new ReadableStream({ start: (body) => body.error(new Error('reset')) }), { status: 503 })
  const answers = [broken(), Response.json({ data: [{ index: 0, embedding: [0, 1] }] })]
  const fetch = async () => answers.shift()
  const embedder = httpEmbedder({ ...options('http://localhost/v1'), fetch: fetch as never })
  expect(await embedder.embed(['a'], 'query')).toEqual([Float32Array.of(0, 1)])
})

it.each([
  [[0, 0], /two vectors the index 0$/],
  [[0, 2], /a vector the index 2, where 2 texts were sent$/],
  [[0, -1], /a vector the index -1, where 2 texts were sent$/],
  [[0], /1 vectors for 2 texts/],
  [[], /0 vectors for 2 texts/],
])('says what is wrong with vectors for the texts %j', async (indexes, message) => {
  const data = indexes.map((index) => ({ index, embedding: [1, 2] }))
  const url = await serve(() => ({ body: { data } }))
  await expect(httpEmbedder(options(url)).embed(['a', 'b'], 'document')).rejects.toThrow(message)
})

it('repeats nothing of what a server says: it may be what it was sent', async () => {
  const url = await serve(() => ({ status: 400, body: 'bad input: Jane Roe is allergic' }))
  const error: Error = await httpEmbedder(options(url))
    .embed(['a'], 'document')
    .catch((reason) => reason)
  expect(error.message).toMatch(/answered 400$/)
})

it('keeps the query of its url, and repeats nothing of it', async () => {
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    return new Response('', { status: 400 })
  }
  const url = 'http://localhost/v1/?version=2&key=hunter2'
  const embedder = httpEmbedder({ ...options(url), fetch: fetch as never })
  const error: Error = await embedder.embed(['a'], 'query').catch((reason) => reason)
  expect(new Set(asked)).toEqual(new Set(['http://localhost/v1/embeddings?version=2&key=hunter2']))
  expect(error.message).toBe('the embedding server at http://localhost/v1/embeddings answered 400')
})

it('gives up after its time limit and when nobody listens', async () => {
  const url = await serve(() => ({ hang: true }))
  await expect(
    httpEmbedder({ ...options(url), timeoutMs: 20, retries: 0 }).embed(['a'], 'document'),
  ).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
  await expect(
    httpEmbedder({ ...options('http://127.0.0.1:9/v1'), retries: 0 }).embed(['a'], 'document'),
  ).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
})

it('stops when it is told to', async () => {
  const url = await serve(() => ({ hang: true }))
  const stop = new AbortController()
  const embedder = httpEmbedder({ ...options(url), retries: 0 })
  const answer = embedder.embed(['a'], 'document', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(answer).rejects.toThrow('enough')
})

it('asks nothing for who has given up already', async () => {
  let asked = 0
  const fetch = async () => {
    asked++
    return Response.json({})
  }
  const embedder = httpEmbedder({ ...options('http://localhost/v1'), fetch: fetch as never })
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(embedder.embed(['a'], 'document', { signal })).rejects.toThrow('enough')
  expect(asked).toBe(0)
})

it('ends the request under way when it is told to stop', () => {
  const asked: AbortSignal[] = []
  const fetch = (_: unknown, { signal }: { signal: AbortSignal }) => {
    asked.push(signal)
    return new Promise<Response>(() => {})
  }
  const stop = new AbortController()
  const embedder = httpEmbedder({ ...options('http://localhost/v1'), fetch: fetch as never })
  void embedder.embed(['a'], 'document', { signal: stop.signal })
  expect(asked.map(({ aborted }) => aborted)).toEqual([false])
  stop.abort()
  expect(asked.map(({ aborted }) => aborted)).toEqual([true])
})

it('lets go of the signal of its caller when it has an answer', async () => {
  const { signal } = new AbortController()
  const listeners = () => getEventListeners(signal, 'abort').length
  const counted: number[] = []
  const answers = [new Response('', { status: 503 }), Response.json({ data: [{ embedding: [0, 1] }] })]
  const fetch = async () => {
    counted.push(listeners())
    return answers.shift()
  }
  const embedder = httpEmbedder({
    ...options('http://localhost/v1'),
    backoff: () => 0,
    fetch: fetch as never,
  })
  await embedder.embed(['a'], 'query', { signal })
  expect([...counted, listeners()]).toEqual([1, 1, 0])
})

it.each([
  [429, '3600', 60_000],
  [503, '30', 30_000],
])('waits after %i as long as a server asks, at most a minute', async (status, asked, wait) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const answers = [
    new Response('', { status, headers: { 'retry-after': asked } }),
    Response.json({ data: [{ index: 0, embedding: [0, 1] }] }),
  ]
  const fetch = async () => answers.shift()
  const { signal } = new AbortController()
  const embedder = httpEmbedder({ ...options('http://localhost/v1'), fetch: fetch as never })
  const vectors = embedder.embed(['a'], 'query', { signal })
  await vi.advanceTimersByTimeAsync(wait - 1)
  expect(answers).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(answers).toEqual([])
  expect(await vectors).toHaveLength(1)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it.each([
  [429, MemoryErrorCode.RATE_LIMITED],
  [503, MemoryErrorCode.UNAVAILABLE],
])(
  'does not wait for as long as it may wait at most, and says that the server answered %i',
  async (status, code) => {
    const url = await serve(() => ({ status, headers: { 'retry-after': '5' } }))
    const embedder = httpEmbedder({ ...options(url), longestPauseMs: 5000 })
    await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({
      code,
      message: expect.stringContaining(`answered ${status}`),
    })
    expect(requests).toHaveLength(1)
  },
)

it('waits twice as long before each further try, where it is not told how long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  vi.spyOn(Math, 'random').mockReturnValue(0)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const asked: number[] = []
  const fetch = async () => {
    asked.push(Date.now())
    return new Response('', { status: 503 })
  }
  const embedder = httpEmbedder({
    url: 'http://localhost/v1',
    model: 'm',
    dimensions: 2,
    fetch: fetch as never,
  })
  const refused = expect(embedder.embed(['a'], 'query')).rejects.toThrow('answered 503')
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  expect(asked.map((at, i) => at - (asked[i - 1] ?? at))).toEqual([0, 250, 500, 1000])
})

it('waits as long as a server asks, and by itself only where none does', async () => {
  const waits: number[] = []
  const backoff = (attempt: number): number => {
    waits.push(attempt)
    return 0
  }
  const url = await serve(
    () => ({ status: 429, headers: { 'retry-after': '0' } }),
    () => ({ status: 503 }),
    good,
  )
  await httpEmbedder({ ...options(url), backoff }).embed(['a'], 'document')
  expect(waits).toEqual([2])
})

it.each([400, 413, 422])(
  'sends less at once to a server that takes less, and says so by %i',
  async (status) => {
    const url = await serve((input) => (input.length > 10 ? { status } : good(input)))
    const embedder = httpEmbedder(options(url))
    const texts = Array.from({ length: 70 }, (_, i) => 'x'.repeat(i + 1))
    const vectors = await embedder.embed(texts, 'document')
    expect(vectors.map(([x, y]) => Math.round((x as number) / (y as number)))).toEqual(
      texts.map((t) => t.length),
    )
    requests.length = 0
    await embedder.embed(texts, 'document')
    expect(Math.max(...requests.map(({ input }) => input.length))).toBeLessThanOrEqual(10)
  },
)

it.each([400, 413, 422])(
  'gives up on a text that is refused alone by %i, says so, and goes on sending as many as before',
  async (status) => {
    const url = await serve((input) => (input.includes('poison') ? { status } : good(input)))
    const embedder = httpEmbedder(options(url))
    const error = await embedder.embed(['a', 'b', 'c', 'poison'], 'document').catch((reason) => reason)
    expect(refusesText(error)).toBe(true)
    expect(error).toMatchObject({ code: MemoryErrorCode.UNAVAILABLE, details: { status } })
    expect(error.message).toMatch(`answered ${status} to a text, and takes others`)
    requests.length = 0
    await embedder.embed(['a', 'b', 'c', 'd'], 'document')
    expect(requests).toHaveLength(1)
  },
)

it.each([400, 401, 404, 413, 429, 500])(
  'blames no text where the server answers %i to all of them, and asks it a few times only',
  async (status) => {
    const url = await serve(() => ({ status, headers: { 'retry-after': '0' } }))
    const texts = Array.from({ length: 64 }, (_, i) => `a text, the ${i}th`)
    const error = await httpEmbedder(options(url))
      .embed(texts, 'document')
      .catch((reason) => reason)
    expect(error.message).toContain(`answered ${status}`)
    expect(refusesText(error)).toBe(false)
    expect(requests.length).toBeLessThan(10)
  },
)

it('sends no text that is empty or not well-formed: many servers refuse it, and all that came with it', async () => {
  const url = await serve(good)
  const texts = ['a', '', ' \n', 'b\ud800']
  expect(await httpEmbedder(options(url)).embed(texts, 'document')).toHaveLength(4)
  expect(requests[0]?.input).toEqual(['a', '-', '-', 'b\ufffd'])
})

it('sends no secret that somebody typed into a file or a question', async () => {
  const embedder = httpEmbedder(options(await serve(good)))
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  for (const mode of ['document', 'query'] as const) await embedder.embed([`why does ${secret} fail`], mode)
  expect(requests.map(({ input }) => input)).toEqual([
    ['why does [redacted:github] fail'],
    ['why does [redacted:github] fail'],
  ])
})

it('sends no text on to where a server points', async () => {
  const url = await serve(() => ({ status: 307, body: '', headers: { location: '/v1/elsewhere' } }))
  await expect(httpEmbedder(options(url)).embed(['a'], 'document')).rejects.toThrow(/answered 307$/)
  expect(requests).toHaveLength(1)
})

it('says what to look at when the server knows no such path or model', async () => {
  const url = await serve(() => ({ status: 404, body: '' }))
  await expect(httpEmbedder(options(url)).embed(['a'], 'document')).rejects.toThrow(/404; check the url/)
})

it.each([Number.POSITIVE_INFINITY, 10_000 / 3])('may wait for %d ms', async (timeoutMs) => {
  const url = await serve(good)
  const embedder = httpEmbedder({ ...options(url), timeoutMs, retries: 0 })
  expect(await embedder.embed(['a'], 'query')).toHaveLength(1)
})

it('says that it took too long also when the answer began in time', async () => {
  const fetch = async (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Response(
      new ReadableStream({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
      }),
    )
  const embedder = httpEmbedder({
    ...options('http://localhost/v1'),
    timeoutMs: 20,
    retries: 0,
    fetch: fetch as never,
  })
  await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
})

it.each([
  { url: 'localhost:11434/v1' },
  { url: '' },
  { url: 'https://ana:hunter2@localhost/v1' },
  { url: 'https://hunter2@localhost/v1' },
  { maxBatch: 0 },
  { maxBatch: Number.NaN },
  { timeoutMs: -1 },
  { timeoutMs: Number.NaN },
  { retries: Number.NaN },
])('refuses %j at once, and repeats no password', (wrong) => {
  const make = () => httpEmbedder({ ...options('http://localhost/v1'), ...wrong })
  expect(make).toThrow(expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }))
  expect(make).not.toThrow(/hunter2/)
})

it.each([
  [{ model: undefined }, /^options.model: must be the name of the model/],
  [{ model: '' }, /^options.model: must be the name of the model/],
  [{ dimensions: undefined }, /^options.dimensions: must be the length of the model's vectors/],
  [{ dimensions: 1.5 }, /^options.dimensions: must be the length/],
  [{ dimensions: 0 }, /^options.dimensions: must be the length/],
  [{ scripts: ['Klingon'] }, /^options.scripts.0: must be the Unicode name of a script/],
  [{ timeout: 20 }, /^options: Unrecognized key: "timeout"$/],
  [
    { prefixes: { qery: 'q: ', documents: 'd: ' } },
    /^options.prefixes: Unrecognized keys: "qery", "documents"$/,
  ],
])('says of %j what it needs', (wrong, message) => {
  const make = () => httpEmbedder({ ...options('http://localhost/v1'), ...wrong } as never)
  expect(make).toThrow(expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }))
  expect(make).toThrow(message)
})

it('needs options', () => {
  expect(() => httpEmbedder(undefined as never)).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
  )
})

it('refuses a key that no header can hold without repeating it', () => {
  const given = options('http://localhost:1/v1')
  for (const apiKey of ['secret\nmore', 'sec\0ret', 'sec\u2026ret']) {
    const refused = failureOf(() => httpEmbedder({ ...given, apiKey }))
    expect(refused).toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    expect(inspect(refused)).toContain('on one line')
    expect(inspect(refused)).not.toMatch(/sec|ret/)
  }
  expect(() => httpEmbedder({ ...given, apiKey: ' key-of_a.file=\r\n' })).not.toThrow()
})

it('says which scripts its model knows, where it is told', () => {
  const given = options('http://localhost:1/v1')
  expect(httpEmbedder({ ...given, scripts: ['Latin', 'Cyrillic'] }).scripts).toEqual(['Latin', 'Cyrillic'])
  expect(httpEmbedder(given)).not.toHaveProperty('scripts')
})

function failureOf(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}
