import { MemoryErrorCode } from '@recall/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAuthenticator } from '../src/access/authenticator.ts'
import { codeOf, engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

describe.each(engines)('another key on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  /** Another process of it. */
  let other: TestHub
  /** Milliseconds that have passed on the clock of the cache. */
  let later = 0
  beforeEach(async () => {
    later = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + later)
    hub = await openHub(database(), noLimits)
    other = await openHub(database(), noLimits)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  const statusOf = async (key: string, via = hub) =>
    (await via.request('GET', '/api/v1/agents/me', { key })).status
  const rotate = async (key: string, via = hub): Promise<string> => {
    const answer = await via.request('POST', '/api/v1/agents/me/rotate-key', { key })
    expect(answer.status).toBe(200)
    return ((await answer.json()) as { api_key: string }).api_key
  }

  it('replaces the old one when it is first used, so that its answer may be lost', async () => {
    const { key, id } = await hub.agent('ada')
    const lost = await rotate(key)
    expect(await statusOf(key)).toBe(200)
    const got = await rotate(key)
    expect(await statusOf(lost)).toBe(401)
    expect(await statusOf(key)).toBe(200)
    const answer = await hub.request('GET', '/api/v1/agents/me', { key: got })
    expect(await answer.json()).toEqual({ agent: { id, name: 'ada' } })
    expect([await statusOf(key), await statusOf(lost), await statusOf(got)]).toEqual([401, 401, 200])
    expect(await statusOf(await rotate(got))).toBe(200)
    expect(await statusOf(got)).toBe(401)
  })

  it('ends the old one within seconds where that is known, however often it is used', async () => {
    const { key } = await hub.agent('ada')
    const next = await rotate(key)
    expect(await statusOf(key, other)).toBe(200)
    expect(await statusOf(next)).toBe(200)
    expect(await statusOf(key)).toBe(401)
    expect(await statusOf(key, other)).toBe(200)
    later = 3000
    await statusOf(key, other)
    later = 5100
    expect(await statusOf(key, other)).toBe(401)
    expect(await statusOf(next, other)).toBe(200)
  })

  it('ends the old one as soon where the database was slow to tell of it', async () => {
    const slow = createAuthenticator(database(), {
      async call(run) {
        const found = await run()
        later += 3000
        return found
      },
    })
    const { key } = await hub.agent('ada')
    await slow.authenticate(`Bearer ${key}`)
    await statusOf(await rotate(key))
    later += 2100
    expect(await codeOf(() => slow.authenticate(`Bearer ${key}`))).toBe(MemoryErrorCode.UNAUTHENTICATED)
  })

  it('is refused where a third one was issued while it was looked up', async () => {
    const { key } = await hub.agent('ada')
    const next = await rotate(key)
    let third: Promise<string> | undefined
    const slow = createAuthenticator(database(), {
      async call(run) {
        const found = await run()
        third ??= rotate(key)
        await third
        return found
      },
    })
    expect(await codeOf(() => slow.authenticate(`Bearer ${next}`))).toBe(MemoryErrorCode.UNAUTHENTICATED)
    expect(await statusOf((await third) as string)).toBe(200)
  })

  it('is not given for the old one, where that is still known for a moment', async () => {
    const { key } = await hub.agent('ada')
    expect(await statusOf(key, other)).toBe(200)
    const next = await rotate(key)
    expect(await statusOf(next)).toBe(200)
    expect(await statusOf(key, other)).toBe(200)
    expect((await other.request('POST', '/api/v1/agents/me/rotate-key', { key })).status).toBe(401)
    expect(await statusOf(next)).toBe(200)
  })

  it('may come first in several requests at once', async () => {
    const { key } = await hub.agent('ada')
    const next = await rotate(key)
    const statuses = Array.from({ length: 10 }, (_, i) => statusOf(next, i % 2 ? hub : other))
    expect(await Promise.all(statuses)).toEqual(Array(10).fill(200))
  })
})
