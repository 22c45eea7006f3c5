import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { Counter, Histogram, Registry } from 'prom-client'
import type { Log } from './log.ts'
import { newRoutes } from './routes/app.ts'

/**
 * Logs one line for each request and keeps metrics. Both identify a request by its route only: they never hold a key,
 * a query, a memory or an address.
 */
export function createObserver(log: Log) {
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

/** Routes that machines poll every few seconds are not logged. */
const quiet = new Set(['/livez', '/readyz', '/healthz', '/metrics'])

/**
 * The route pattern that answered, such as `/api/v1/memory/:id`. A path would reveal the ids of memories, and create a
 * time series for each.
 */
const routeOf = (context: Context): string =>
  // The first match without a wildcard is the handler; the others are middleware.
  matchedRoutes(context).find(({ path }) => !path.includes('*'))?.path ?? 'none'

/**
 * Metrics for Prometheus. They reveal how much a hub is used, so only allowed requests see them.
 *
 * @param allowed whether a request may see the metrics
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
