import { expect, it, vi } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { serveHub } from '../src/serve.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const drainDelayMs = 12_345
const pausing = vi.hoisted(() => {
  let end = (): void => {}
  return { over: new Promise<void>((resolve) => (end = resolve)), end: () => end() }
})
vi.mock('node:timers/promises', async (original) => {
  const timers = await original<typeof import('node:timers/promises')>()
  return {
    ...timers,
    setTimeout: (...given: Parameters<typeof timers.setTimeout>) =>
      given[0] === drainDelayMs ? pausing.over : timers.setTimeout(...given),
  }
})

it('says for a while that it stops, and takes requests meanwhile', async () => {
  const config = parseConfig({
    dataFolder: temporaryFolder(),
    port: 0,
    embedding: { provider: 'fake' },
    drainDelayMs: String(drainDelayMs),
  })
  const hub = await serveHub(config, () => {})
  const closed = hub.close()
  const asked = await fetch(`${hub.url}/readyz`, { headers: { Connection: 'close' } })
  expect([asked.status, await asked.json()]).toEqual([503, { ready: false, reason: 'stopping' }])
  expect((await fetch(`${hub.url}/skill.md`)).status).toBe(200)
  pausing.end()
  await closed
  await expect(fetch(`${hub.url}/readyz`)).rejects.toThrow()
})
