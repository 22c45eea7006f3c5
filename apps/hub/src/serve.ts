import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { collectDefaultMetrics } from 'prom-client'
import { urlOf } from './access/guard-host.ts'
import type { HubConfig } from './config/config.ts'
import { createHub, type RunningHub } from './create-hub.ts'
import type { Log } from './log.ts'
import { openDependencies } from './open-dependencies.ts'

export interface ListeningHub {
  url: string
  /** Stops accepting requests, waits up to 10 seconds for those under way, and closes. */
  close(): Promise<void>
}

/** Longest wait for requests under way when the hub closes, in milliseconds. */
const drainMs = 10_000

/** Timeouts against callers that send a byte a second: an incomplete request is cut off. */
const patience = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 5000,
  maxHeaderSize: 16 * 1024,
}

const mostSockets = 2000

/** Opens the dependencies that the settings name, starts the hub, and listens. */
export async function serveHub(config: HubConfig, log: Log): Promise<ListeningHub> {
  const { close: closeDependencies, ...dependencies } = await openDependencies(config, log)
  try {
    const hub = await createHub(config, {
      ...dependencies,
      log,
      remoteAddress: (context) => getConnInfo(context).remote.address,
    })
    collectDefaultMetrics({ register: hub.metrics, prefix: 'recall_' })
    const server = await listen(config, hub.fetch)
    server.maxConnections = mostSockets
    // Not before it listens: a hub that cannot does not start, and nothing may keep its process from ending.
    const queue = config.embedAsync ? workOn(hub, log) : undefined
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : config.port
    return {
      url: urlOf(config.host, port),
      async close() {
        hub.drain()
        const closed = new Promise<void>((resolve) => {
          server.close(() => resolve())
        })
        server.closeIdleConnections()
        // Without this header, callers could keep sending requests over an open connection until it is cut.
        server.prependListener('request', (_, answer) => answer.setHeader('Connection', 'close'))
        const cut = setTimeout(() => server.closeAllConnections(), drainMs)
        await closed
        clearTimeout(cut)
        await queue?.stop()
        await hub.settled()
        await closeDependencies()
      },
    }
  } catch (error) {
    await closeDependencies()
    throw error
  }
}

/** Pause before an empty queue is checked again, in milliseconds. */
const queueMs = 500

/** Embeds queued memories until it is stopped. */
function workOn(hub: RunningHub, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()
  const next = (delay: number): void => {
    timer = setTimeout(() => {
      turn = hub.embedWaiting(stopping.signal).then(
        (done) => next(done > 0 ? 0 : queueMs),
        (error: { code?: string; name: string }) => {
          log({ level: 'error', event: 'queue failed', code: error.code, name: error.name })
          next(queueMs)
        },
      )
    }, delay)
    if (stopping.signal.aborted) clearTimeout(timer)
  }
  next(0)
  return {
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await turn
    },
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
