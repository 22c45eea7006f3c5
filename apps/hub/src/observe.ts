import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { Counter, Histogram, Registry } from 'prom-client'
import type { HubDependencies } from './create-hub.ts'
import { newRoutes } from './routes/app.ts'

/**
 * What the hub tells of its work: a line for each request, and figures. Both know a request by its route and
 * nothing of what it carried: no key, no question, no memory, no address.
 */
export function createObserver(log: NonNullable<HubDependencies['log']>) {
  const registry = new Registry()
  const requests = new Counter({
    name: 'recall_requests_total',
    help: 'Requests answered',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'recall_request_duration_seconds',
    help: 'Time to answer',
    labelNames: ['method', 'route'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })

  const middleware: MiddlewareHandler = async (context, next) => {
    const started = performance.now()
    await next()
    const seconds = (performance.now() - started) / 1000
    const { status } = context.res
    const method = knownMethods.has(context.req.method) ? context.req.method : 'other'
    const route = routeOf(context)
    requests.inc({ method, route, status: String(status) })
    durations.observe({ method, route }, seconds)
    if (!quiet.has(route)) {
      const ms = Math.round(seconds * 10_000) / 10
      log({ level: 'info', event: 'request', method, route, status, ms })
    }
  }

  return { middleware, registry }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** What is asked every few seconds by machines. */
const quiet = new Set(['/livez', '/readyz', '/healthz', '/metrics'])

/** The pattern that answered, such as `/api/v1/memory/:id`: a path would name memories, and there are too many. */
const routeOf = (context: Context): string =>
  // Handlers answer in this order; what holds for many routes has a star.
  matchedRoutes(context).find(({ path }) => !path.includes('*'))?.path ?? 'none'

/**
 * Figures for Prometheus. They tell how much a hub is used: on loopback to anybody, elsewhere to who has the token.
 *
 * @param allowed whether a request may see them
 */
export function metricsRoutes(registry: Registry, allowed: (context: Context) => boolean) {
  return newRoutes().get('/metrics', async (context) => {
    if (!allowed(context)) return context.notFound()
    return context.body(await registry.metrics(), 200, {
      'Content-Type': registry.contentType,
      'Cache-Control': 'no-store',
    })
  })
}
