import { serve as listen } from '@hono/node-server'
import { Hono } from 'hono'
import { serveForLoad, serveNothing } from '../../apps/hub/test/support/load-server.ts'
import { clusteredEmbedder } from './clustered-vectors.ts'
import type { Options } from './options.ts'

/** Starts one of the servers that are put under load; returns its port. */
export function serve(name: string, { postgres }: Options): Promise<number> {
  if (name === 'serve-hub' && postgres) return serveForLoad(postgres, clusteredEmbedder, 10)
  if (name === 'serve-nothing') return serveNothing()
  if (name === 'serve-hono') return serveHono()
  throw new Error(`there is no server "${name}"`)
}

/** Hono as in its first example: one route, no middleware. */
function serveHono(): Promise<number> {
  const agent = { agent: { id: crypto.randomUUID(), name: 'load' } }
  const app = new Hono().get('/api/v1/agents/me', (context) => context.json(agent))
  return new Promise((resolve) => {
    listen({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port))
  })
}
