import { getEventListeners } from 'node:events'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createHttp } from '../src/http.ts'
import { connectHub, type HubClient } from '../src/index.ts'
import { failure, hubOf, json, memory, saved } from './fake-hub.ts'

it('asks once more for a new key when the answer with the first was lost', async () => {
  const { hub, requests } = hubOf([new Error('connection lost'), json({ api_key: 'recall_new' })])
  expect(await hub.rotateKey()).toBe('recall_new')
  expect(requests).toHaveLength(2)
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

it('lets go of the signal of its caller when a try or a pause is over', async () => {
  const { signal } = new AbortController()
  const listeners = () => getEventListeners(signal, 'abort').length
  const answers = [json({}, 503, { 'Retry-After': '0' }), json({})]
  const counted: number[] = []
  const send = createHttp({
    url: 'https://hub.example',
    fetch() {
      counted.push(listeners())
      return answers.shift() as Response
    },
  })
  await send('GET', 'health', {}, { repeatable: true, signal })
  expect([...counted, listeners()]).toEqual([1, 1, 0])
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
