import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Embedder } from '@recall/core'
import { openPostgres } from '@recall/store-postgres/postgres'
import { parseConfig } from '../../src/config/config.ts'
import { createHub } from '../../src/create-hub.ts'
import { noLimits } from './open-hub.ts'

/** A hub that listens, without limits, with an embedder of the caller's: what load is put on. */
export async function serveForLoad(url: string, embedder: Embedder, connections: number): Promise<number> {
  const { database } = await openPostgres({ url, connections, migrations: false })
  const settings = { ...noLimits, thresholds: { minSimilarity: 0 }, databaseTimeoutMs: 60_000 }
  const hub = await createHub(parseConfig(settings), { database, embedder })
  return new Promise((resolve) => {
    serve({ fetch: hub.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port))
  })
}

/** The least that answers a GET: what the hub's chain of middleware is compared with. */
export function serveNothing(): Promise<number> {
  const body = JSON.stringify({ agent: { id: crypto.randomUUID(), name: 'load' } })
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
