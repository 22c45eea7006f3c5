import { MemoryErrorCode, type ValueSchema } from '@recall/core'
import { expect, expectTypeOf, it, onTestFinished, vi } from 'vitest'
import { connectHub, type HubClient, registerAgent } from '../src/index.ts'
import { failure, hubOf, json, memory, saved } from './fake-hub.ts'

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
  'https://hub.example/below/api/v1',
  'https://hub.example/below/api/v1/',
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

it('takes no list that is shorter than what was asked for memories that are not there', async () => {
  const { hub } = hubOf([json({ entries: [] })])
  const asked = failure(hub.memory.batchRead('working', ['a', 'b']))
  expect((await asked).code).toBe(MemoryErrorCode.UNAVAILABLE)
})

it('asks for a memory by its id, whatever stands in it', async () => {
  const { hub, requests } = hubOf([json({ memory: {} })])
  await hub.get('../agents/me?a#b')
  expect(requests[0]?.url).toBe('https://hub.example/below/api/v1/memory/..%2Fagents%2Fme%3Fa%23b')
})

it('asks for an id that is not well-formed as for any other that the hub does not know', async () => {
  const { hub } = hubOf([json({ code: MemoryErrorCode.NOT_FOUND, detail: 'no' }, 404)])
  expect((await failure(hub.get('RCL-\ud83d'))).code).toBe(MemoryErrorCode.NOT_FOUND)
})

it.each(['', '.', '..'])('knows that there is no memory %j, which no address could hold', async (id) => {
  const { hub, requests } = hubOf([])
  for (const asked of [hub.get(id), hub.cite(id), hub.delete(id)])
    expect((await failure(asked)).code).toBe(MemoryErrorCode.NOT_FOUND)
  expect(requests).toEqual([])
})

it('says of what is no text that it is none, and takes no options for none', async () => {
  const { hub, requests } = hubOf([json({ results: [] }), json({ status: 'deleted' })])
  const [nothing, number] = [undefined as never, 5 as never]
  for (const asked of [hub.get(nothing), hub.cite(nothing), hub.delete(number), hub.search(nothing)])
    expect((await failure(asked)).code).toBe(MemoryErrorCode.INVALID_INPUT)
  expect(requests).toEqual([])
  expect(await hub.search('x', null as never)).toEqual([])
  expect(await hub.delete('1', null as never)).toBe('deleted')
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

it('asks by the fetch of the platform where it is given no other', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch').mockResolvedValue(json({ results: [] }))
  onTestFinished(() => fetch.mockRestore())
  expect(await connectHub({ url: 'https://hub.example' }).search('q')).toEqual([])
  expect(fetch).toHaveBeenCalledOnce()
})

it('says that a hub did not answer in time', async () => {
  const fetch = ({ signal }: Request): Promise<Response> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const hub = connectHub({ url: 'https://hub.example', fetch, timeoutMs: 1, retries: 0 })
  expect((await failure(hub.whoami())).code).toBe(MemoryErrorCode.TIMEOUT)
})

it('takes for words only what is text in the answer of a proxy', async () => {
  const { hub } = hubOf([
    Response.json({ code: 422, detail: [{ loc: ['q'] }], errors: 'one' }, { status: 422 }),
  ])
  const error = await hub.whoami().catch((failure: unknown) => failure)
  expect(error).toMatchObject({
    message: 'hub.example answered 422, but not as a hub does: is it a Recall hub?',
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

it('says what to look at when no hub can be reached', async () => {
  const fetch = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'))
  const hub = connectHub({ url: 'https://hub.example', fetch, retries: 0 })
  await expect(hub.whoami()).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'hub.example cannot be reached: check that the address is right, and that the hub is running',
  })
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

it.each([
  [{ memory: null }, 'options'],
  [{ memory: { stores: {} } }, '"stores"'],
  [{ memory: { namespce: 'x' } }, '"namespce"'],
  [{ apiKey: 5 }, 'this is not a hub key'],
])('refuses the options %j', (options, told) => {
  expect(() => connectHub({ url: 'https://hub.example', ...options } as never)).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT, message: expect.stringContaining(told) }),
  )
})

it.each([
  [{ lim: 3 }, '"lim"'],
  [{ limit: '3' }, 'limit must be'],
  [{ explain: 'no' }, 'explain must be'],
  [{ signal: {} }, 'signal must be'],
])('refuses the options %j of a call before it asks anybody', async (options, told) => {
  const { hub, requests } = hubOf([])
  const wrong = { code: MemoryErrorCode.INVALID_INPUT, message: expect.stringContaining(told) }
  await expect(hub.search('pool', options as never)).rejects.toMatchObject(wrong)
  if ('lim' in options)
    for (const call of [hub.get('id', options as never), hub.save({} as never, options as never)])
      await expect(call).rejects.toMatchObject(wrong)
  expect(requests).toEqual([])
})

it.each([
  { timeoutMs: -1 },
  { timeoutMs: Number.NaN },
  { timeoutMs: '5' as never },
  { retries: Number.NaN },
  { retries: 1.5 },
  { retries: '2' as never },
])('refuses %j at once', (wrong) => {
  expect(() => connectHub({ url: 'https://hub.example', ...wrong })).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
  )
})

it.each(['fetch', 'wait'])('needs a function for %s', (name) => {
  expect(() => connectHub({ url: 'https://hub.example', [name]: 5 })).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT, message: `${name} must be a function` }),
  )
})

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
    message: expect.stringContaining('https://hub.example redirects to https://www.hub.example,'),
  })
  expect(requests).toHaveLength(1)
})

it('follows no redirect that a browser hides', async () => {
  const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
  await expect(hubOf([hidden]).hub.search('q')).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('https://hub.example redirects to elsewhere,'),
  })
})

it.each([[], null, 'text'])('takes %j for no memory', async (given) => {
  const { hub } = hubOf([1, 2, 3].map(() => json({ memory: given })))
  expect((await failure(hub.get('1'))).code).toBe(MemoryErrorCode.UNAVAILABLE)
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
