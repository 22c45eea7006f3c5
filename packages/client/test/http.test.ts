import { getEventListeners } from 'node:events'
import { isMemoryError, MemoryErrorCode, type ValueSchema } from '@recall/core'
import { expect, expectTypeOf, it, onTestFinished, vi } from 'vitest'
import { createHttp } from '../src/http.ts'
import { connectHub, type HubClient, registerAgent } from '../src/index.ts'

type Answer = Response | Error

/** A hub that gives these answers in turn, and what it was asked. */
function hubOf(answers: Answer[]): { hub: HubClient; requests: Request[]; pauses: number[] } {
  const requests: Request[] = []
  const pauses: number[] = []
  const hub = connectHub({
    url: 'https://hub.example/below',
    apiKey: 'recall_key',
    async fetch(request) {
      requests.push(request)
      const answer = answers.shift()
      if (answer instanceof Response) return answer
      throw answer ?? new Error('nothing was expected')
    },
    wait: async (milliseconds) => void pauses.push(milliseconds),
  })
  return { hub, requests, pauses }
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers })

const failure = async (
  call: Promise<unknown>,
): Promise<{ code: string; retryAfterMs?: number | undefined }> => {
  const error: unknown = await call.catch((error: unknown) => error)
  if (!isMemoryError(error)) throw new Error(`no MemoryError: ${String(error)}`)
  return { code: error.code, retryAfterMs: error.retryAfterMs }
}

const memory = { content: 'x'.repeat(100), tags: ['a', 'b'] }
const saved = { id: '1', short_id: 'RCL-1', status: 'saved', similar: [] }

it('asks once more for a new key when the answer with the first was lost', async () => {
  const { hub, requests } = hubOf([new Error('connection lost'), json({ api_key: 'recall_new' })])
  expect(await hub.rotateKey()).toBe('recall_new')
  expect(requests).toHaveLength(2)
})

it('refuses what JSON cannot hold, and sends nothing', async () => {
  const { hub, requests } = hubOf([])
  const endless: Record<string, unknown> = {}
  endless.self = endless
  for (const tags of [[1n], endless]) {
    expect(await failure(hub.save({ ...memory, tags: tags as unknown as string[] }))).toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
    })
  }
  expect(requests).toEqual([])
})

it('knows the types of the schemas that it is given', async () => {
  const goal: ValueSchema<{ name: string }> = {
    safeParse: () => ({ success: false, error: { issues: [{ path: ['name'], message: 'is missing' }] } }),
  }
  const hub = connectHub({ url: 'https://hub.example', memory: { schemas: { working: { goal } } } })
  expectTypeOf(() => hub.memory.read('working', 'goal')).returns.resolves.toEqualTypeOf<{
    name: string
  } | null>()
  // @ts-expect-error a goal has a name
  expect(await failure(hub.memory.write('working', 'goal', {}))).toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
  })
})

it.each([
  ['save', (hub: HubClient) => hub.save(memory)],
  ['search', (hub: HubClient) => hub.search('q')],
  ['get', (hub: HubClient) => hub.get('1')],
  ['cite', (hub: HubClient) => hub.cite('1')],
  ['delete', (hub: HubClient) => hub.delete('1')],
  ['whoami', (hub: HubClient) => hub.whoami()],
  ['rotateKey', (hub: HubClient) => hub.rotateKey()],
  ['memory.read', (hub: HubClient) => hub.memory.read('working', 'key')],
])('refuses to %s once it is closed, and may be closed again', async (_, call) => {
  const { hub, requests } = hubOf([])
  await hub.close()
  expect((await failure(call(hub))).code).toBe(MemoryErrorCode.CLOSED)
  await hub.close()
  await hub[Symbol.asyncDispose]()
  expect(requests).toEqual([])
})

it('finishes what its memory was asked before it was closed', async () => {
  const { hub, requests } = hubOf([json({ entry: { key: 'k', value: 1 } }), json({ success: true })])
  const value = hub.memory.read('working', 'k')
  await hub.close()
  expect(await value).toBe(1)
  expect(requests.map(({ url }) => url.split('/').at(-1))).toEqual(['get', 'touch'])
})

it.each([
  'https://hub.example/below',
  'https://hub.example/below/',
  'https://hub.example/below?a=b#c',
  new URL('https://hub.example/below'),
])('takes %s for the address of a hub', async (url) => {
  const urls: string[] = []
  const fetch = (request: Request): Response => {
    urls.push(request.url)
    return json({ agent: { id: '1', name: 'ada' } })
  }
  await connectHub({ url, fetch }).whoami()
  expect(urls).toEqual(['https://hub.example/below/api/v1/agents/me'])
})

it.each([undefined, null, 'https://hub.example', {}, { url: undefined }])('needs more than %j', (given) => {
  expect(() => connectHub(given as never)).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining('https://recall.example.org'),
    }),
  )
})

it('names an option that does not exist', async () => {
  const url = 'https://hub.example'
  const misspelt = { url, apikey: 'recall_key', timeout: 5 }
  const wanted = {
    code: MemoryErrorCode.INVALID_INPUT,
    message: 'options: Unrecognized keys: "apikey", "timeout"',
  }
  expect(() => connectHub(misspelt)).toThrow(expect.objectContaining(wanted))
  await expect(registerAgent(misspelt, 'ada')).rejects.toMatchObject(wanted)
  expect(() => connectHub({ url, timeout: 5 } as never)).toThrow('Unrecognized key: "timeout"')
  expect(() => connectHub({ url, memory: { redaction: 'reject' } as never })).toThrow('"redaction"')
})

it('takes nothing for an answer where a hub has nothing', async () => {
  const { hub } = hubOf([json({ entry: null })])
  expect(await hub.memory.read('working', 'key')).toBeNull()
})

it('asks for a memory by its id, whatever stands in it', async () => {
  const { hub, requests } = hubOf([json({ memory: {} })])
  await hub.get('../agents/me?a#b')
  expect(requests[0]?.url).toBe('https://hub.example/below/api/v1/memory/..%2Fagents%2Fme%3Fa%23b')
})

it('sends no key where there is none yet', async () => {
  const sent: (string | null)[] = []
  const fetch = ({ headers }: Request): Response => {
    sent.push(headers.get('Authorization'))
    return json({ agent: { id: '1', name: 'ada' }, api_key: 'recall_key' }, 201)
  }
  const registered = await registerAgent({ url: 'https://hub.example', fetch }, 'ada')
  expect(registered).toEqual({ id: '1', name: 'ada', apiKey: 'recall_key' })
  expect(sent).toEqual([null])
})

it('registers no agent a second time', async () => {
  let asked = 0
  const fetch = (): Response => {
    asked++
    throw new Error('reset')
  }
  const registration = registerAgent({ url: 'https://hub.example', fetch, wait: async () => {} }, 'ada')
  expect((await failure(registration)).code).toBe(MemoryErrorCode.UNAVAILABLE)
  expect(asked).toBe(1)
})

it('says that it sends JSON, and asks for the signals of what it finds where they are wanted', async () => {
  const { hub, requests } = hubOf([json(saved, 201), json({ results: [] })])
  await hub.save(memory)
  await hub.search('q', { explain: true })
  expect(requests[0]?.headers.get('Content-Type')).toBe('application/json')
  expect(requests[1]?.url).toMatch(/search\?q=q&limit=10&explain=true$/)
})

it('sends the key, below the path of the hub', async () => {
  const { hub, requests } = hubOf([json({ results: [] })])
  expect(await hub.search('a & b', { limit: 3 })).toEqual([])
  expect(requests[0]?.url).toBe('https://hub.example/below/api/v1/memory/search?q=a+%26+b&limit=3')
  expect(requests[0]?.headers.get('Authorization')).toBe('Bearer recall_key')
  expect(requests[0]?.redirect).toBe('manual')
})

it('tries again what may be repeated, under the same Idempotency-Key', async () => {
  const { hub, requests, pauses } = hubOf([new Error('reset'), json({}, 503), json(saved, 201)])
  expect(await hub.save(memory)).toEqual(saved)
  const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^"[0-9a-f-]{36}"$/)
  const [first = 0, second = 0] = pauses
  expect(pauses).toHaveLength(2)
  expect([first >= 200, first <= 300, second >= 400, second <= 600]).toEqual([true, true, true, true])
})

it.each([
  ['get', (hub: HubClient) => hub.get('1'), { memory: {} }],
  ['search', (hub: HubClient) => hub.search('q'), { results: [] }],
  ['cite', (hub: HubClient) => hub.cite('1'), { citation: 'Recall #1', citations: 1 }],
  ['whoami', (hub: HubClient) => hub.whoami(), { agent: {} }],
])('tries again to %s, which does no more the second time', async (_, call, answer) => {
  const { hub, requests } = hubOf([new Error('reset'), json(answer)])
  expect(await call(hub)).toBeDefined()
  expect(requests).toHaveLength(2)
})

it('waits for the answer to a try that got through, whose own answer was lost', async () => {
  const running = () => json({ code: MemoryErrorCode.CONFLICT }, 409, { 'Retry-After': '1' })
  const { hub, requests } = hubOf([new Error('reset'), running(), running(), running(), json(saved, 201)])
  expect(await hub.save(memory)).toEqual(saved)
  expect(new Set(requests.map(({ headers }) => headers.get('Idempotency-Key'))).size).toBe(1)
  const forever = hubOf(Array.from({ length: 50 }, running))
  expect((await failure(forever.hub.save(memory))).code).toBe(MemoryErrorCode.CONFLICT)
  expect(forever.requests).toHaveLength(16)
})

it('asks no more often because the hub says when, nor where it says that there is a conflict', async () => {
  const busy = hubOf(Array.from({ length: 50 }, () => json({}, 503, { 'Retry-After': '1' })))
  expect((await failure(busy.hub.whoami())).code).toBe(MemoryErrorCode.UNAVAILABLE)
  expect(busy.requests).toHaveLength(3)
  const other = hubOf(Array.from({ length: 50 }, () => json({ code: MemoryErrorCode.CONFLICT }, 409)))
  expect((await failure(other.hub.save(memory))).code).toBe(MemoryErrorCode.CONFLICT)
  expect(other.requests).toHaveLength(1)
})

it('says that a hub did not answer in time', async () => {
  const fetch = ({ signal }: Request): Promise<Response> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const hub = connectHub({ url: 'https://hub.example', fetch, timeoutMs: 1, retries: 0 })
  expect((await failure(hub.whoami())).code).toBe(MemoryErrorCode.TIMEOUT)
})

it('ends a pause between two tries when the caller gives up', async () => {
  const caller = new AbortController()
  const send = createHttp({
    url: 'https://hub.example',
    fetch() {
      setImmediate(() => caller.abort(new Error('given up')))
      return json({}, 503, { 'Retry-After': '9' })
    },
  })
  await expect(send('GET', 'health', {}, { repeatable: true, signal: caller.signal })).rejects.toThrow(
    'given up',
  )
})

it('lets go of the signal of its caller when a pause is over', async () => {
  const caller = new AbortController()
  const answers = [json({}, 503, { 'Retry-After': '0' }), json({})]
  const send = createHttp({ url: 'https://hub.example', fetch: () => answers.shift() as Response })
  await send('GET', 'health', {}, { repeatable: true, signal: caller.signal })
  expect(getEventListeners(caller.signal, 'abort')).toEqual([])
})

it('begins no pause for a caller who has given up, and leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const caller = new AbortController()
  const send = createHttp({
    url: 'https://hub.example',
    fetch() {
      caller.abort(new Error('given up'))
      return json({}, 503, { 'Retry-After': '9' })
    },
  })
  await expect(send('GET', 'health', {}, { repeatable: true, signal: caller.signal })).rejects.toThrow(
    'given up',
  )
  expect(vi.getTimerCount()).toBe(0)
})

it('does not try again what another try cannot help, nor what may not be repeated', async () => {
  const refused = hubOf([json({ code: MemoryErrorCode.INVALID_INPUT, detail: 'no' }, 400)])
  expect((await failure(refused.hub.save(memory))).code).toBe(MemoryErrorCode.INVALID_INPUT)
  expect(refused.requests).toHaveLength(1)
  const deleting = hubOf([new Error('reset')])
  expect((await failure(deleting.hub.delete('1'))).code).toBe(MemoryErrorCode.UNAVAILABLE)
  expect(deleting.requests).toHaveLength(1)
  const once = hubOf([new Error('reset')])
  const write = once.hub.memory.write('long-term', 'key', 1, { overwrite: false })
  expect((await failure(write)).code).toBe(MemoryErrorCode.UNAVAILABLE)
})

it('waits as long as the hub asks, and says so when that is long', async () => {
  const soon = hubOf([json({}, 429, { 'Retry-After': '2' }), json({ results: [] })])
  await soon.hub.search('q')
  expect(soon.pauses[0]).toBeGreaterThanOrEqual(2000)
  const late = hubOf([json({}, 429, { 'Retry-After': '3600' })])
  expect(await failure(late.hub.search('q'))).toEqual({
    code: MemoryErrorCode.RATE_LIMITED,
    retryAfterMs: 3_600_000,
  })
})

it('takes for words only what is text in the answer of a proxy', async () => {
  const { hub } = hubOf([
    Response.json({ code: 422, detail: [{ loc: ['q'] }], errors: 'one' }, { status: 422 }),
  ])
  const error = await hub.whoami().catch((failure: unknown) => failure)
  expect(error).toMatchObject({
    message: 'hub.example answered 422, and not as a hub does: is it a Recall hub?',
    details: { status: 422 },
  })
  expect(error).not.toHaveProperty('details.issues')
})

it('takes a page of a proxy for no hub', async () => {
  const page = hubOf([
    new Response('<html>', { status: 200 }),
    new Response('<html>', { status: 200 }),
    new Response('<html>'),
  ])
  expect((await failure(page.hub.whoami())).code).toBe(MemoryErrorCode.UNAVAILABLE)
  const gone = hubOf(Array.from({ length: 3 }, () => new Response('<html>', { status: 404 })))
  expect((await failure(gone.hub.get('1'))).code).toBe(MemoryErrorCode.UNAVAILABLE)
})

it.each([
  [500, MemoryErrorCode.UNAVAILABLE],
  [408, MemoryErrorCode.TIMEOUT],
  [502, MemoryErrorCode.UNAVAILABLE],
  [504, MemoryErrorCode.TIMEOUT],
  [404, MemoryErrorCode.UNAVAILABLE],
  [418, MemoryErrorCode.INVALID_INPUT],
  [300, MemoryErrorCode.INVALID_INPUT],
  [399, MemoryErrorCode.INVALID_INPUT],
])('takes the status %i of a proxy for %s', async (status, code) => {
  const { hub } = hubOf([new Response('<html>', { status })])
  await expect(hub.delete('1')).rejects.toMatchObject({ code, details: { status } })
})

it('passes on what the hub has against the input', async () => {
  const errors = [
    { pointer: '#/writes/0/tags', detail: 'is empty' },
    { pointer: '#', detail: 'has too few members' },
  ]
  const { hub } = hubOf([json({ code: MemoryErrorCode.INVALID_INPUT, detail: 'no', errors }, 400)])
  await expect(hub.save(memory)).rejects.toMatchObject({
    message: 'no',
    details: {
      issues: [
        { path: 'writes.0.tags', message: 'is empty' },
        { path: '', message: 'has too few members' },
      ],
    },
  })
})

it('names the entry that the hub refuses to write over, and no scope that there is not', async () => {
  const refusal = (scope: string) =>
    json({ code: MemoryErrorCode.CONFLICT, detail: 'no', scope, key: 'k' }, 409)
  const { hub } = hubOf([refusal('long-term'), refusal('longest-term')])
  const write = () => hub.memory.write('long-term', 'k', 1, { overwrite: false })
  await expect(write()).rejects.toMatchObject({ scope: 'long-term', key: 'k' })
  await expect(write()).rejects.not.toHaveProperty('scope')
})

it.each(['null', '"ok"', '', '{"entry":', '[]', '{}'])('takes %s for no answer of a hub', async (body) => {
  const answers = () => Array.from({ length: 3 }, () => new Response(body))
  for (const call of [
    (hub: HubClient) => hub.whoami(),
    (hub: HubClient) => hub.save(memory),
    (hub: HubClient) => hub.delete('1'),
    (hub: HubClient) => hub.search('q'),
    (hub: HubClient) => hub.memory.write('working', 'key', 1),
    (hub: HubClient) => hub.memory.read('working', 'key'),
    (hub: HubClient) => hub.memory.search('working', {}),
    (hub: HubClient) => hub.memory.delete('working', 'key'),
  ])
    expect((await failure(call(hubOf(answers()).hub))).code).toBe(MemoryErrorCode.UNAVAILABLE)
})

it('waits for an answer as long as it is told to, also for ever', async () => {
  const fetch = async (): Promise<Response> => json({ agent: { id: '1', name: 'ada' } })
  const hub = connectHub({ url: 'https://hub.example', apiKey: 'recall_key', fetch, timeoutMs: Infinity })
  expect(await hub.whoami()).toEqual({ id: '1', name: 'ada' })
})

it('waits for a part of a millisecond as for a whole one', async () => {
  const fetch = async (): Promise<Response> => json({ agent: { id: '1', name: 'ada' } })
  const hub = connectHub({ url: 'https://hub.example', apiKey: 'recall_key', fetch, timeoutMs: 10_000 / 3 })
  expect(await hub.whoami()).toEqual({ id: '1', name: 'ada' })
})

it.each([{ timeoutMs: -1 }, { timeoutMs: Number.NaN }, { retries: Number.NaN }])(
  'refuses %j at once',
  (wrong) => {
    expect(() => connectHub({ url: 'https://hub.example', ...wrong })).toThrow(
      expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
    )
  },
)

it('is aborted by its caller', async () => {
  const reason = new Error('no longer wanted')
  const { hub, requests } = hubOf([reason])
  await expect(hub.search('q', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  expect(requests.length).toBeLessThanOrEqual(1)
})

it.each([
  ['save', (hub: HubClient, signal: AbortSignal) => hub.save(memory, { signal })],
  ['search', (hub: HubClient, signal: AbortSignal) => hub.search('q', { signal })],
  ['get', (hub: HubClient, signal: AbortSignal) => hub.get('1', { signal })],
  ['cite', (hub: HubClient, signal: AbortSignal) => hub.cite('1', { signal })],
  ['delete', (hub: HubClient, signal: AbortSignal) => hub.delete('1', { signal })],
  ['whoami', (hub: HubClient, signal: AbortSignal) => hub.whoami({ signal })],
  ['rotateKey', (hub: HubClient, signal: AbortSignal) => hub.rotateKey({ signal })],
])('ends a request to %s when its caller gives up', (_, call) => {
  const asked: AbortSignal[] = []
  const fetch = ({ signal }: Request): Promise<Response> => {
    asked.push(signal)
    return new Promise(() => {})
  }
  const caller = new AbortController()
  void call(connectHub({ url: 'https://hub.example', fetch }), caller.signal)
  expect(asked.map(({ aborted }) => aborted)).toEqual([false])
  caller.abort()
  expect(asked.map(({ aborted }) => aborted)).toEqual([true])
})

it('follows no redirect, and says where the hub sends its callers', async () => {
  const moved = new Response(null, { status: 301, headers: { Location: 'https://www.hub.example/x?y' } })
  const { hub, requests } = hubOf([moved])
  await expect(hub.search('q')).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('https://hub.example sends its callers on to https://www.hub.example,'),
  })
  expect(requests).toHaveLength(1)
})

it('follows no redirect that a browser hides', async () => {
  const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
  await expect(hubOf([hidden]).hub.search('q')).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('https://hub.example sends its callers on to elsewhere,'),
  })
})

it.each([[], null, 'text'])('takes %j for no memory', async (given) => {
  const { hub } = hubOf([1, 2, 3].map(() => json({ memory: given })))
  expect((await failure(hub.get('1'))).code).toBe(MemoryErrorCode.UNAVAILABLE)
})

it('asks once where it may not ask again', async () => {
  let asked = 0
  const fetch = (): Response => {
    asked++
    return json({}, 503)
  }
  const hub = connectHub({ url: 'https://hub.example', fetch, retries: 0 })
  expect((await failure(hub.whoami())).code).toBe(MemoryErrorCode.UNAVAILABLE)
  expect(asked).toBe(1)
})

it('lets no pause between many tries grow without end', async () => {
  const pauses: number[] = []
  const hub = connectHub({
    url: 'https://hub.example',
    fetch: () => json({}, 503),
    wait: async (milliseconds) => void pauses.push(milliseconds),
    retries: 12,
  })
  expect((await failure(hub.whoami())).code).toBe(MemoryErrorCode.UNAVAILABLE)
  expect(pauses).toHaveLength(12)
  expect(pauses.at(-1)).toBeGreaterThanOrEqual(10_000)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(15_000)
})

it('asks once also where it would wait for ever for an earlier try', async () => {
  let asked = 0
  const fetch = (): Response => {
    if (++asked > 1) throw new Error('asked again')
    return json({ code: MemoryErrorCode.CONFLICT }, 409, { 'Retry-After': '1' })
  }
  const wait = async (): Promise<void> => {}
  const hub = connectHub({ url: 'https://hub.example', fetch, wait, timeoutMs: Infinity, retries: 0 })
  expect((await failure(hub.save(memory))).code).toBe(MemoryErrorCode.CONFLICT)
})

it.each([
  'recall.example.org:x',
  'file:///etc/passwd',
  'nohttps://hub.example',
  'https://ana@hub.example',
  'https://:quokka@hub.example',
])('says of %s that it is no address, and repeats no password', (url) => {
  expect(() => connectHub({ url, apiKey: 'k' })).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.not.stringContaining('quokka'),
    }),
  )
})

it('says that a key is none, and does not repeat it', () => {
  expect(() => connectHub({ url: 'https://hub.example', apiKey: 'recall_quokka\nwalrus' })).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.not.stringContaining('quokka'),
    }),
  )
})
