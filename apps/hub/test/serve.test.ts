import { once } from 'node:events'
import { connect } from 'node:net'
import { connectHub, registerAgent } from '@recall/client'
import { expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { type ListeningHub, serveHub } from '../src/serve.ts'
import { beginRegistration } from './support/half-sent.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

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
  for (const path of ['skill.md', 'llms.txt', '.well-known/api-catalog']) {
    expect(await (await fetch(`${hub.url}/${path}`)).text()).toContain(hub.url)
  }
  const rebound = await fetch(`${hub.url}/api/v1/health`, { headers: { Origin: 'http://elsewhere.example' } })
  expect(rebound.status).toBe(403)
  await hub.close()
  await expect(fetch(`${hub.url}/livez`)).rejects.toThrow()
})

it('loads the embedding model before anybody asks, and closes while it does', async () => {
  const config = parseConfig({ dataFolder: temporaryFolder(), port: 0, embedding: { provider: 'local' } })
  const events: unknown[] = []
  const loading = await serveHub(config, ({ event }) => events.push(event))
  await loading.close()
  expect(events).toEqual([])

  const hub = await new Promise<ListeningHub>((resolve, reject) => {
    const serving = serveHub(config, ({ event }) => {
      events.push(event)
      resolve(serving)
    })
    serving.catch(reject)
  })
  expect(events).toEqual(['embedding model loaded'])
  await hub.close()
})

it('says that it answers under every name where it knows none of its own', async () => {
  const eventsOf = async (settings: object): Promise<string> => {
    const given = { dataFolder: temporaryFolder(), port: 0, embedding: { provider: 'fake' }, ...settings }
    const events: unknown[] = []
    const hub = await serveHub(parseConfig(given), ({ event }) => events.push(event))
    expect(hub.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    await hub.close()
    return events.join()
  }
  expect(await eventsOf({ host: '0.0.0.0' })).toContain('set RECALL_HUB_PUBLIC_URL')
  expect(await eventsOf({ host: '0.0.0.0', publicUrl: 'https://hub.example.org' })).toBe('')
  expect(await eventsOf({ host: '127.0.0.1' })).toBe('')
})

it('asks callers who go on while it closes to go', async () => {
  const config = parseConfig({ dataFolder: temporaryFolder(), port: 0, embedding: { provider: 'fake' } })
  const hub = await serveHub(config, () => {})
  const { finish } = await beginRegistration(hub.url)
  const closed = hub.close()
  const answer = await finish()
  expect(answer).toMatch(/^HTTP\/1.1 201 /)
  // Nothing waits for the connection to be idle for long enough.
  expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n')
  await closed
})

it('sends an answer to its end while it closes, however slowly that is read', async () => {
  const config = parseConfig({ dataFolder: temporaryFolder(), port: 0, embedding: { provider: 'fake' } })
  const hub = await serveHub(config, () => {})
  const { apiKey } = await registerAgent({ url: hub.url }, 'ada')
  const { memory, close } = connectHub({ url: hub.url, apiKey })
  await memory.write('long-term', 'large', 'x'.repeat(7_000_000))
  await close()
  const body = '{"key":"large"}'
  const socket = connect(Number(new URL(hub.url).port), '127.0.0.1')
  socket.write(
    [
      'POST /api/v1/private/long-term/get HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
  let read = (await once(socket, 'readable')) && socket.read().length
  const closed = hub.close()
  for await (const some of socket) read += some.length
  expect(read).toBeGreaterThan(7_000_000)
  await closed
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
