import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { HubConfig } from './config/config.ts'
import { createHub, type HubDependencies } from './create-hub.ts'
import { openDependencies } from './open-dependencies.ts'

export interface ListeningHub {
  url: string
  /** Stops accepting, lets what is under way finish, and closes. */
  close(): Promise<void>
}

/** Longest that requests under way are waited for, in milliseconds. */
const drainMs = 10_000

/** Against callers who send a byte a second: a request that is not complete by then is cut. */
const patience = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 5000,
  maxHeaderSize: 16 * 1024,
}

const mostSockets = 2000

/** Opens what the settings name, and listens. */
export async function serveHub(
  config: HubConfig,
  log: NonNullable<HubDependencies['log']>,
): Promise<ListeningHub> {
  const { close: closeDependencies, ...dependencies } = await openDependencies(config, log)
  try {
    const hub = await createHub(config, {
      ...dependencies,
      log,
      remoteAddress: (context) => getConnInfo(context).remote.address,
    })
    const server = await listen(config, hub.fetch)
    server.maxConnections = mostSockets
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : config.port
    return {
      url: `http://${config.host}:${port}`,
      async close() {
        hub.drain()
        const closed = new Promise<void>((resolve) => {
          server.close(() => resolve())
        })
        server.closeIdleConnections()
        const cut = setTimeout(() => server.closeAllConnections(), drainMs)
        await closed
        clearTimeout(cut)
        await closeDependencies()
      },
    }
  } catch (error) {
    await closeDependencies()
    throw error
  }
}

const listen = (config: HubConfig, fetch: Parameters<typeof serve>[0]['fetch']): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: config.host, port: config.port, serverOptions: patience }, () => {
      server.off('error', reject)
      resolve(server as Server)
    })
    server.once('error', reject)
  })
