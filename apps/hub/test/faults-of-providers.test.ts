import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { memories } from '@recall/store-postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import type { HubSettings } from '../src/config/config.ts'
import { listening, register, save, send } from './support/faults.ts'

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('an embedding provider', () => {
  let provider: Server
  let url = ''
  let behaves: 'well' | 'fails' | 'refuses' | 'stalls' | 'short' | 'empty' = 'well'
  beforeAll(async () => {
    provider = createServer((request, response) => {
      if (behaves === 'stalls') return
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] }
        const length = behaves === 'short' ? 3 : 8
        const vector = Array.from({ length }, (_, i) => ((input[0]?.length ?? 0) % (i + 2)) + 1)
        const status = { fails: 500, refuses: 429 }[behaves as string] ?? 200
        response.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '30' })
        response.end(
          JSON.stringify({
            data: behaves === 'empty' ? [] : input.map((_, index) => ({ index, embedding: vector })),
          }),
        )
      })
    }).listen(0, '127.0.0.1')
    await once(provider, 'listening')
    const address = provider.address()
    url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1`
  })
  afterAll(() => {
    provider.closeAllConnections()
    provider.close()
  })

  it.each(['fails', 'refuses', 'stalls', 'short', 'empty'] as const)(
    'that %s: 503, nothing half written, and well again by itself',
    async (fault) => {
      const own = await openServerDatabase()
      onTestFinished(() => own.close())
      behaves = 'well'
      const says: unknown[] = []
      const settings: HubSettings = {
        postgresUrl: own.url,
        embedding: { provider: 'http', url, model: 'eight', dimensions: 8 },
        embedTimeoutMs: 500,
      }
      const hub = await listening(settings, (line) => says.push(line.says))
      const key = await register(hub.url)
      behaves = fault
      const started = performance.now()
      const refused = await save(hub.url, key, 1)
      expect(refused).toMatchObject({ status: 503, type: 'application/problem+json' })
      expect(Number(refused.retryAfter)).toBeGreaterThan(0)
      expect((await send(hub.url, '/memory/search?q=anything', { key })).status).toBe(503)
      expect(performance.now() - started).toBeLessThan(8000)
      expect(await own.database.$count(memories)).toBe(0)
      if (fault === 'short') expect(says.join()).toContain('gave a vector of 3 dimensions')
      if (fault === 'refuses') expect(says.join()).toContain('answered 429')
      if (fault === 'stalls') expect(says.join()).toContain('no vector within 500 milliseconds')
      behaves = 'well'
      expect((await save(hub.url, key, 1)).status).toBe(201)
    },
  )
})
