import { registerAgent } from '@recall/client'
import { expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { serveHub } from '../src/serve.ts'
import { temporaryFolder } from './support.ts'

it('listens, knows where a caller comes from, and closes in good order', async () => {
  const config = parseConfig({
    dataFolder: temporaryFolder(),
    port: 0,
    embedding: { provider: 'fake' },
    limits: { register: [{ requests: 1, seconds: 3600 }] },
  })
  const hub = await serveHub(config, () => {})
  expect(await registerAgent({ url: hub.url }, 'ada')).toMatchObject({ name: 'ada' })
  await expect(registerAgent({ url: hub.url, retries: 0 }, 'ada')).rejects.toMatchObject({
    code: 'MEMORY_RATE_LIMITED',
  })
  const rebound = await fetch(`${hub.url}/api/v1/health`, { headers: { Origin: 'http://elsewhere.example' } })
  expect(rebound.status).toBe(403)
  await hub.close()
  await expect(fetch(`${hub.url}/livez`)).rejects.toThrow()
})

it('names every wrong setting at once', () => {
  const wrong = { port: 'x', production: true, thresholds: { duplicate: 2 }, nothing: 1 }
  const issues = (() => {
    try {
      parseConfig(wrong)
    } catch (error) {
      return (error as { details: { issues: { path: string }[] } }).details.issues
    }
    return []
  })()
  expect(issues.map(({ path }) => path)).toEqual(expect.arrayContaining(['port', 'thresholds.duplicate', '']))
})
