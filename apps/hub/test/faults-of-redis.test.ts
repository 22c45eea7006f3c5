import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import type { HubSettings } from '../src/config/config.ts'
import { listening, register, send } from './support/faults.ts'
import { openGate } from './support/gate.ts'
import { noLimits } from './support/open-hub.ts'
import { freePort, startRedis, until } from './support/processes.ts'

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('faults of Redis', () => {
  let server: Awaited<ReturnType<typeof openServerDatabase>>
  beforeAll(async () => {
    server = await openServerDatabase()
  })
  afterAll(() => server?.close())

  it('Redis is gone and comes back: limits hold meanwhile, and nobody waits', async () => {
    const port = await freePort()
    let redis = await startRedis(port)
    let isUp = true
    onTestFinished(async () => {
      if (isUp) await redis.kill()
    })
    const hub = await listening({ postgresUrl: server.url, redisUrl: redis.url, limits: limitsOf(50) })
    const key = await register(hub.url)
    const ask = () => send(hub.url, '/memory/RCL-00000000', { key })
    expect((await ask()).status).toBe(404)
    await redis.kill()
    isUp = false
    const started = performance.now()
    const statuses: number[] = []
    for (let i = 0; i < 60; i++) statuses.push((await ask()).status)
    // Neither open nor closed: each process counts for itself.
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(49)
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(51)
    expect(statuses.at(-1)).toBe(429)
    expect(performance.now() - started).toBeLessThan(10_000)
    redis = await startRedis(port)
    isUp = true
    // It counts anew there.
    await until(ask, ({ status }) => status === 404)
  })

  it('a connection to Redis that has gone silent is made anew', async () => {
    const redis = await startRedis(await freePort())
    onTestFinished(() => redis.kill())
    const gate = await openGate(redis.url)
    onTestFinished(() => gate.close())
    const hub = await listening({ postgresUrl: server.url, redisUrl: gate.url, limits: limitsOf(1_000_000) })
    const key = await register(hub.url)
    const counts = new Redis(redis.url)
    onTestFinished(() => counts.disconnect())
    const askAndCount = async () => {
      expect((await send(hub.url, '/memory/RCL-00000000', { key })).status).toBe(404)
      const [name = ''] = await counts.keys('*-get:*')
      return Number(await counts.get(name))
    }
    // On a slow machine the hub may not wait for an answer of Redis.
    const counted = await until(askAndCount, (count) => count > 0)
    gate.forget()
    expect(await askAndCount()).toBe(counted)
    await until(askAndCount, (count) => count > counted)
  })
})

/** As many requests of each kind in an hour, for each agent. */
function limitsOf(requests: number): HubSettings['limits'] {
  const windows = [{ requests, seconds: 3600 }]
  const tier = { write: windows, search: windows, get: windows }
  return { ...noLimits.limits, tiers: { unverified: tier, trusted: tier, core: tier } }
}
