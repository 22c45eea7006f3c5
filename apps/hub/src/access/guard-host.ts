import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { HubConfig } from '../config/config.ts'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a server that listens on this host can be reached from this machine only. */
export const isLoopback = (host: string): boolean => loopback.has(host) || host === '::1'

/** The addresses of a server that listens everywhere on its machine, with those to open it at instead. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** A URL under which this machine reaches its server; an IPv6 address is in brackets there. */
export function urlOf(host: string, port: number): string {
  const name = everywhere[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** A hub on a public interface without `publicUrl` cannot know its own names: it accepts all of them. */
export const answersAnyName = ({ host, publicUrl }: HubConfig): boolean =>
  !isLoopback(host) && publicUrl === undefined

/** Probes reveal next to nothing, and orchestrators call them by an IP address or a service name. */
const probes = new Set(['/livez', '/readyz', '/healthz'])
const isMachine = (hostname: string): boolean => /^(?:[\d.]+|[^.]+)$/.test(hostname)

/**
 * Keeps web pages in a browser from reaching a hub on the same machine, through DNS rebinding or from another origin:
 * answers only requests to a host name that belongs to the hub, and among other origins only to those that the operator
 * allows. Two exceptions: probes are answered under IP addresses and single-label names, and `/metrics` under any name
 * when it needs a token.
 */
export function guardHost(config: HubConfig): MiddlewareHandler {
  const own = config.publicUrl ? new URL(config.publicUrl) : undefined
  const isLocal = isLoopback(config.host)
  const isAnybodys = (path: string, hostname: string): boolean =>
    (probes.has(path) && isMachine(hostname)) || (path === '/metrics' && config.metricsToken !== undefined)
  return async (context, next) => {
    const { hostname, host } = new URL(context.req.url)
    if (isAnybodys(context.req.path, hostname)) return next()
    const isOwn = hostname === own?.hostname || (isLocal ? loopback.has(hostname) : answersAnyName(config))
    const origin = context.req.header('Origin')
    const isFromHere = origin === undefined || hostOf(origin) === host || hostOf(origin) === own?.host
    if (isOwn && (isFromHere || config.allowedOrigins.includes(origin))) return next()
    throw new MemoryError(
      isOwn
        ? `pages of ${origin} may not call this hub: RECALL_HUB_ALLOWED_ORIGINS names those that may`
        : `this hub is not reached as ${hostname}: set RECALL_HUB_PUBLIC_URL to its address`,
      MemoryErrorCode.FORBIDDEN,
    )
  }
}

/** Lets a browser show the hub's answers to pages of the origins that the operator allows. */
export function openToPages({ allowedOrigins }: HubConfig): MiddlewareHandler {
  const open = cors({
    origin: [...allowedOrigins],
    exposeHeaders: ['Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate'],
    maxAge: 600,
  })
  return (context, next) =>
    allowedOrigins.includes(context.req.header('Origin') ?? '') ? open(context, next) : next()
}

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)
