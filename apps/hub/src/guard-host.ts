import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { MiddlewareHandler } from 'hono'
import type { HubConfig } from './config/config.ts'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether only this machine can reach what listens there. */
export const isLoopback = (host: string): boolean => loopback.has(host) || host === '::1'

/** They tell next to nothing, and machines ask for them by an address or the name of a service. */
const probes = new Set(['/livez', '/readyz'])
const isMachine = (hostname: string): boolean => /^(?:\[.*\]|[\d.]+|[^.]+)$/.test(hostname)

/**
 * A page that a browser shows must not reach a hub on the same machine: neither under a name of its own that
 * leads here, nor from another origin. Answers a request only under a name that the hub knows to be its own; but
 * machines may ask whether it lives under an address, and for figures that need a token under any name.
 */
export function guardHost(config: HubConfig): MiddlewareHandler {
  const own = config.publicUrl ? new URL(config.publicUrl).hostname : undefined
  const isLocal = isLoopback(config.host)
  const isAnybodys = (path: string, hostname: string): boolean =>
    (probes.has(path) && isMachine(hostname)) || (path === '/metrics' && config.metricsToken !== undefined)
  return async (context, next) => {
    const { hostname } = new URL(context.req.url)
    if (isAnybodys(context.req.path, hostname)) return next()
    // Bound to the world without a name, the hub cannot know under which names it is reached.
    const isOwn = hostname === own || (isLocal ? loopback.has(hostname) : own === undefined)
    const origin = context.req.header('Origin')
    if (isOwn && (origin === undefined || hostnameOf(origin) === hostname)) return next()
    throw new MemoryError(
      `this hub is not reached as ${hostname}, or not from there: set its publicUrl`,
      MemoryErrorCode.FORBIDDEN,
    )
  }
}

function hostnameOf(origin: string): string | undefined {
  try {
    return new URL(origin).hostname
  } catch {
    return undefined
  }
}
