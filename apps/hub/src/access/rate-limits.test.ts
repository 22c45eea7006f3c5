import { stat } from 'node:fs/promises'
import { type MemoryError, MemoryErrorCode } from '@recall/core'
import type { Database } from '@recall/store-postgres'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { parseConfig } from '../config/config.ts'
import { createLimits, type LimitHeaders } from './rate-limits.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
})
afterEach(() => {
  vi.useRealTimers()
})

const inMemory = { timeoutMs: 5000 }
const once = [{ requests: 1, seconds: 60 }]
const twice = [{ requests: 2, seconds: 60 }]
const later = (ms: number) => vi.setSystemTime(Date.now() + ms)

const errorOf = (call: Promise<unknown>): Promise<MemoryError> =>
  call.then(
    () => expect.unreachable(),
    (error: MemoryError) => error,
  )

/** What is left after each of some requests; `-1` for one that is refused. */
async function leftAfter(count: number, request: () => Promise<LimitHeaders>): Promise<number[]> {
  const left: number[] = []
  for (let i = 0; i < count; i++)
    left.push(
      await request().then(
        ({ RateLimit }) => Number(/r=(\d+)/.exec(RateLimit)?.[1]),
        () => -1,
      ),
    )
  return left
}

const registering = (register: { requests: number; seconds: number }[]) =>
  parseConfig({ limits: { register } })

it('tells what is left of each window and when it begins anew, and which one is full', async () => {
  const windows = [
    { requests: 2, seconds: 60 },
    { requests: 3, seconds: 3600 },
    { requests: 9, seconds: 90 },
  ]
  const { ofAddress } = createLimits(registering(windows).limits, inMemory)
  expect(await ofAddress('a')).toEqual({
    'RateLimit-Policy': '"minute";q=2;w=60, "hour";q=3;w=3600, "90s";q=9;w=90',
    RateLimit: '"minute";r=1;t=60, "hour";r=2;t=3600, "90s";r=8;t=90',
  })
  later(1500)
  expect((await ofAddress('a')).RateLimit).toBe('"minute";r=0;t=59, "hour";r=1;t=3599, "90s";r=7;t=89')
  expect(await errorOf(ofAddress('a'))).toMatchObject({
    code: MemoryErrorCode.RATE_LIMITED,
    message: 'too many requests: the limit of a minute is reached, try again in 59 seconds',
    retryAfterMs: 58_500,
    details: { policies: ['minute'], headers: { RateLimit: '"minute";r=0;t=59' } },
  })
  expect((await ofAddress('b')).RateLimit).toContain('"minute";r=1')
  later(58_500)
  expect((await ofAddress('a')).RateLimit).toContain('"minute";r=1;t=60, "hour";r=0;t=3540')
  expect(await errorOf(ofAddress('a'))).toMatchObject({
    details: { policies: ['hour'], headers: { RateLimit: '"minute";r=0;t=60, "hour";r=0;t=3540' } },
  })
})

it.each([
  [3600, 'an hour'],
  [86_400, 'a day'],
  [90, '90s'],
])('says which limit is reached: of %d seconds', async (seconds, span) => {
  const { ofAddress } = createLimits(registering([{ requests: 1, seconds }]).limits, inMemory)
  await ofAddress('a')
  const message = `too many requests: the limit of ${span} is reached, try again in ${seconds} seconds`
  expect(await errorOf(ofAddress('a'))).toMatchObject({ message })
})

it('counts each tier, each kind of request and private memory by limits of their own', async () => {
  const tiers = { unverified: { write: once }, trusted: { write: twice, search: once } }
  const config = parseConfig({ limits: { tiers, register: twice, private: once } })
  const { ofAgent, ofAddress, ofPrivate } = createLimits(config.limits, inMemory)
  expect(await leftAfter(2, () => ofAgent('unverified', 'write', 'a'))).toEqual([0, -1])
  expect(await leftAfter(3, () => ofAgent('trusted', 'write', 'a'))).toEqual([1, 0, -1])
  expect(await leftAfter(2, () => ofAgent('trusted', 'search', 'a'))).toEqual([0, -1])
  expect(await leftAfter(2, () => ofPrivate('a'))).toEqual([0, -1])
  expect(await leftAfter(3, () => ofAddress('a'))).toEqual([1, 0, -1])
})

it('gives a request back to each window', async () => {
  const write = [...once, { requests: 2, seconds: 3600 }]
  const config = parseConfig({ limits: { tiers: { unverified: { write } } } })
  const { ofAgent, giveBack } = createLimits(config.limits, inMemory)
  const first = await ofAgent('unverified', 'write', 'a')
  await giveBack('unverified', 'write', 'a')
  expect(await ofAgent('unverified', 'write', 'a')).toEqual(first)
})

it('counts in Redis where there is one, together with other processes', async () => {
  const counts = new Map<string, number>()
  const redis = {
    defineCommand() {},
    async rlflxIncr([key = '', points, seconds]: string[]) {
      counts.set(key, (counts.get(key) ?? 0) + Number(points))
      return [counts.get(key), Number(seconds) * 1000]
    },
  } as unknown as Redis
  const where = { ...inMemory, redis, database: {} as Database }
  const ask = () => createLimits(registering(twice).limits, where).ofAddress('a')
  expect(await leftAfter(3, ask)).toEqual([1, 0, -1])
})

it('takes a store for one that answers, when the process itself was too busy to read its answer', async () => {
  const busyFor = (ms: number) => {
    const end = performance.now() + ms
    while (performance.now() < end);
  }
  const redis = {
    defineCommand() {},
    async rlflxIncr([, , seconds]: string[]) {
      process.nextTick(busyFor, 40)
      await stat('.')
      return [1, Number(seconds) * 1000]
    },
  } as unknown as Redis
  const onAlone = vi.fn()
  await createLimits(registering(once).limits, { redis, timeoutMs: 5, onAlone }).ofAddress('a')
  expect(onAlone).not.toHaveBeenCalled()
})

it('removes no counts from a database by itself', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const counted = createLimits(registering(once).limits, { ...inMemory, database: {} as Database }).ofAddress(
    'a',
  )
  expect(vi.getTimerCount()).toBe(0)
  await counted
})

it.each([
  ['fails', () => Promise.reject(new Error('down'))],
  ['does not answer', () => new Promise(() => {})],
])('counts by itself while the common store %s', async (_, returning) => {
  const database = {
    insert: () => ({ values: () => ({ onConflictDoUpdate: () => ({ returning }) }) }),
  } as unknown as Database
  const told: Error[] = []
  const onAlone = (why: Error) => void told.push(why)
  const { ofAddress } = createLimits(registering(once).limits, { database, timeoutMs: 1, onAlone })
  expect(await leftAfter(2, () => ofAddress('a'))).toEqual([0, -1])
  later(59_999)
  await ofAddress('c')
  expect(told).toHaveLength(1)
  later(1)
  expect(await leftAfter(1, () => ofAddress('b'))).toEqual([0])
  expect(told).toHaveLength(2)
})

it('asks the common store nothing more while hundreds of counts wait for it', async () => {
  const answers: (() => void)[] = []
  const returning = () => new Promise((resolve) => answers.push(() => resolve([{ points: 1, expire: null }])))
  const database = {
    insert: () => ({ values: () => ({ onConflictDoUpdate: () => ({ returning }) }) }),
  } as unknown as Database
  const { ofAddress } = createLimits(registering(once).limits, { database, timeoutMs: 1 })
  const many = (length: number) => Promise.all(Array.from({ length }, (_, i) => ofAddress(`${i}`)))
  await many(500)
  await expect(ofAddress('0')).rejects.toMatchObject({ code: MemoryErrorCode.RATE_LIMITED })
  expect(answers).toHaveLength(500)
  for (const answer of answers) answer()
  await new Promise(setImmediate)
  const asked = ofAddress('0')
  await new Promise(setImmediate)
  expect(answers).toHaveLength(501)
  answers.at(-1)?.()
  await asked
})
