import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { aiSdkLm } from './ai-sdk-lm.ts'
import { openAiCompatibleLm } from './open-ai-compatible-lm.ts'

const key = 'test-key-that-must-not-leak'
const request = { system: 'Be brief', prompt: 'private words', json: true }
const lmWith = (fetch: typeof globalThis.fetch, more: { timeoutMs?: number } = {}) =>
  openAiCompatibleLm({ baseUrl: 'http://localhost:11434/v1', model: 'small', apiKey: key, fetch, ...more })

it('asks the chat completions API in JSON mode', async () => {
  const fetch = vi.fn(async (..._: Parameters<typeof globalThis.fetch>) =>
    Response.json({ choices: [{ message: { content: '{"summary":"x"}' } }] }),
  )
  expect(await lmWith(fetch).complete(request)).toBe('{"summary":"x"}')
  const [url, init] = fetch.mock.calls[0] ?? []
  expect(String(url)).toBe('http://localhost:11434/v1/chat/completions')
  expect(new Headers(init?.headers).get('authorization')).toBe(`Bearer ${key}`)
  expect(JSON.parse(String(init?.body))).toEqual({
    model: 'small',
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'private words' },
    ],
    response_format: { type: 'json_object' },
  })
})

it.each([
  [401, 'MEMORY_UNAUTHENTICATED'],
  [403, 'MEMORY_FORBIDDEN'],
  [404, 'MEMORY_INVALID_INPUT'],
  [429, 'MEMORY_RATE_LIMITED'],
  [302, 'MEMORY_UNAVAILABLE'],
  [500, 'MEMORY_UNAVAILABLE'],
])('turns HTTP %s into %s, without the key or the conversation', async (status, code) => {
  const echoing = async () =>
    new Response(`bad key ${key} for private words`, { status, headers: { 'retry-after': '2' } })
  const error = await lmWith(echoing)
    .complete(request)
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code, retryAfterMs: 2000, details: { status } })
  expect(JSON.stringify(error) + String(error)).not.toMatch(/test-key|private/)
})

it.each([400, 422])(
  'does without JSON mode where a server refuses it with %s, from then on',
  async (status) => {
    const modes: boolean[] = []
    const lm = lmWith(async (_url, init) => {
      modes.push('response_format' in JSON.parse(String(init?.body)))
      return modes.at(-1)
        ? new Response('must be json_schema or text', { status })
        : Response.json({ choices: [{ message: { content: 'answer' } }] })
    })
    expect([await lm.complete(request), await lm.complete(request)]).toEqual(['answer', 'answer'])
    expect(modes).toEqual([true, false, false])
  },
)

it('asks again without JSON mode for no other refusal, and tells the first where both are refused', async () => {
  const statuses = [404, 400, 500, 422, 429, 400]
  let requests = 0
  const lm = lmWith(async () => new Response(null, { status: statuses[requests++] ?? 200 }))
  for (const [json, status] of [
    [true, 404],
    [true, 400],
    [true, 422],
    [false, 400],
  ] as const)
    await expect(lm.complete({ ...request, json })).rejects.toMatchObject({ details: { status } })
  expect(requests).toBe(statuses.length)
})

it('sends no key and asks for no JSON where there is none to send and none is wanted', async () => {
  const fetch = vi.fn(async (..._: Parameters<typeof globalThis.fetch>) =>
    Response.json({ choices: [{ message: { content: 'answer' } }] }),
  )
  const lm = openAiCompatibleLm({ baseUrl: 'http://localhost:11434/v1', model: 'small', fetch })
  await lm.complete({ system: 'Be brief', prompt: 'private words' })
  const [, init] = fetch.mock.calls[0] ?? []
  expect(new Headers(init?.headers).has('authorization')).toBe(false)
  expect(JSON.parse(String(init?.body))).not.toHaveProperty('response_format')
})

it('sends no conversation on to where a server points', async () => {
  let requests = 0
  const server = createServer((_, answer) => {
    requests++
    answer.writeHead(307, { location: '/elsewhere' }).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  await expect(openAiCompatibleLm({ baseUrl, model: 'small' }).complete(request)).rejects.toThrow(/307/)
  expect(requests).toBe(1)
})

it.each([
  ['is no JSON', `<p>${key} for private words</p>`],
  ['is of another shape', '{"choices": [], "prompt": "private words"}'],
])('says of an answer that %s what it is not, and nothing of what it says', async (_, body) => {
  const error: Error = await lmWith(async () => new Response(body))
    .complete(request)
    .catch((thrown) => thrown)
  expect(error.message).toBe('localhost:11434 gave an answer that is not a chat completion')
  expect(`${error.cause}`).not.toMatch(/test-key|private/)
})

it('tells a refusal by its status, also where its body is broken off', async () => {
  const cancel = () => Promise.reject(new Error('broken off'))
  const lm = lmWith(async () => new Response(new ReadableStream({ cancel }), { status: 401 }))
  await expect(lm.complete(request)).rejects.toMatchObject({ code: 'MEMORY_UNAUTHENTICATED' })
})

it('keeps the query of the base URL', async () => {
  const fetch = vi.fn(async (..._: Parameters<typeof globalThis.fetch>) =>
    Response.json({ choices: [{ message: { content: 'answer' } }] }),
  )
  const baseUrl = 'http://localhost:8080/v1/?api-version=2'
  await openAiCompatibleLm({ baseUrl, model: 'small', fetch }).complete(request)
  expect(String(fetch.mock.calls[0]?.[0])).toBe('http://localhost:8080/v1/chat/completions?api-version=2')
})

it('lets go of the connection when the server refuses', async () => {
  const cancel = vi.fn()
  const lm = lmWith(async () => new Response(new ReadableStream({ cancel }), { status: 503 }))
  await expect(lm.complete(request)).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  expect(cancel).toHaveBeenCalledOnce()
})

it.each([Number.POSITIVE_INFINITY, 10_000 / 3])('may wait for an answer for %d ms', async (timeoutMs) => {
  const fetch = async () => Response.json({ choices: [{ message: { content: 'answer' } }] })
  expect(await lmWith(fetch, { timeoutMs }).complete(request)).toBe('answer')
})

it.each([Number.NaN, -1, '5'])('is not made to wait for an answer for %s ms', (timeoutMs) => {
  expect(() => lmWith(globalThis.fetch, { timeoutMs: timeoutMs as number })).toThrow(
    expect.objectContaining({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringMatching(/^timeoutMs must be a number of milliseconds/),
    }),
  )
})

it('says when the server is unreachable, slow or answers something else', async () => {
  const refused = lmWith(async () => {
    throw new TypeError('fetch failed')
  })
  await expect(refused.complete(request)).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  const odd = lmWith(async () => Response.json({ choices: [] }))
  await expect(odd.complete(request)).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  const slow = lmWith(
    (_url, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      }),
    { timeoutMs: 5 },
  )
  await expect(slow.complete(request)).rejects.toMatchObject({ code: 'MEMORY_TIMEOUT' })
})

it('ends its request when its caller gives up, and at its own time limit beside that', async () => {
  const signals: (AbortSignal | null | undefined)[] = []
  const silent: typeof globalThis.fetch = (_url, init) => {
    signals.push(init?.signal)
    return new Promise((_, reject) =>
      init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
    )
  }
  const caller = new AbortController()
  const given = lmWith(silent).complete({ ...request, signal: caller.signal })
  const reason = new Error('the user went away')
  caller.abort(reason)
  await expect(given).rejects.toBe(reason)
  const patient = { ...request, signal: new AbortController().signal }
  await expect(lmWith(silent, { timeoutMs: 5 }).complete(patient)).rejects.toMatchObject({
    code: 'MEMORY_TIMEOUT',
  })
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true])
})

it('lets go of the signal of its caller when it has an answer', async () => {
  const { signal } = new AbortController()
  const listeners = () => getEventListeners(signal, 'abort').length
  const counted: number[] = []
  const lm = lmWith(async () => {
    counted.push(listeners())
    return Response.json({ choices: [{ message: { content: 'answer' } }] })
  })
  expect(await lm.complete({ ...request, signal })).toBe('answer')
  expect([...counted, listeners()]).toEqual([1, 0])
})

it('stops reading a server that does not end its answer', async () => {
  let sent = 0
  const endless = lmWith(async () => {
    const pull = (controller: ReadableStreamDefaultController) => {
      sent += 2 ** 20
      controller.enqueue(new Uint8Array(2 ** 20))
    }
    return new Response(new ReadableStream({ pull }))
  })
  await expect(endless.complete(request)).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  expect(sent).toBeLessThan(2 ** 24)
})

it.each([
  ['model', ''],
  ['model', undefined],
  ['apiKey', `${key}\n5`],
  ['apiKey', 5],
  ['fetch', 'fetch'],
  ['modle', 'small'],
])('refuses an option %s of %o without telling its value', (name, value) => {
  const options = { baseUrl: 'http://localhost:11434/v1', model: 'small', [name]: value }
  const issue = { path: expect.any(String), message: expect.not.stringContaining(key) }
  expect(() => openAiCompatibleLm(options as never)).toThrow(
    expect.objectContaining({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining(name),
      details: { issues: [issue] },
    }),
  )
})

it('refuses to be given no options', () => {
  expect(() => openAiCompatibleLm(undefined as never)).toThrow('baseUrl must be a URL')
})

it.each([
  'nowhere',
  'localhost:11434/v1',
  'http://',
  'http://me@localhost/v1',
  'http://:hidden@localhost/v1',
])('refuses the base URL %s', (baseUrl) => {
  expect(() => openAiCompatibleLm({ baseUrl, model: 'm' })).toThrow(
    expect.objectContaining({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.not.stringContaining('hidden'),
    }),
  )
})

it('uses a model of the AI SDK with the SDK’s own function', async () => {
  const model = { modelId: 'small', provider: 'acme' }
  const generateText = vi.fn(async () => ({ text: 'answer' }))
  const lm = aiSdkLm(model, generateText)
  expect(lm.model).toBe('acme/small')
  const { signal } = new AbortController()
  expect(await lm.complete({ ...request, signal })).toBe('answer')
  expect(generateText).toHaveBeenCalledWith({
    model,
    system: 'Be brief',
    prompt: 'private words',
    abortSignal: signal,
  })
  expect(aiSdkLm({ modelId: 'small' }, generateText).model).toBe('small')
  expect(aiSdkLm('acme/large', generateText).model).toBe('acme/large')
})
