import { type Clock, type Embedder, isMemoryError, systemClock } from '@recall/core'
import type { Database } from '@recall/store-postgres'
import type { Context } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import type { Redis } from 'ioredis'
import type { Registry } from 'prom-client'
import { createAuthenticator } from './access/authenticator.ts'
import { answersAnyName, guardHost, isLoopback, openToPages, urlOf } from './access/guard-host.ts'
import { bearerOf, hashOfKey } from './access/keys.ts'
import { networkOf } from './access/network-of.ts'
import { createLimits } from './access/rate-limits.ts'
import type { HubConfig } from './config/config.ts'
import { createDatabaseCalls } from './database-calls.ts'
import type { Hub, HubParts } from './hub.ts'
import { type Log, loggedError } from './log.ts'
import { maintainHub } from './maintenance.ts'
import { createObserver, metricsRoutes } from './observe.ts'
import { refuseOtherModels } from './pipelines/current-model.ts'
import { embedWaiting } from './pipelines/embed-waiting.ts'
import { createRetrievalLog } from './pipelines/note-retrievals.ts'
import { privateRoutes } from './private/routes.ts'
import { notFound, problemAnswer, wrongMethod } from './problems.ts'
import { adminRoutes } from './routes/admin.ts'
import { agentRoutes } from './routes/agents.ts'
import { newRoutes } from './routes/app.ts'
import { discoveryRoutes } from './routes/discovery.ts'
import { limitBodies } from './routes/limit-bodies.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { memoryRoutes } from './routes/memories.ts'
import { referenceRoutes } from './routes/reference.ts'
import { skillRoutes } from './routes/skill.ts'
import { systemRoutes } from './routes/system.ts'
import { ensureSystemConfig } from './trust/heartbeat.ts'

/** Everything the hub depends on. It opens nothing itself and reads no environment variables. */
export interface HubDependencies {
  /** A migrated database. */
  database: Database
  embedder: Embedder
  redis?: Redis
  clock?: Clock
  log?: Log
  /** The peer address of a request's connection, regardless of what a proxy claims. */
  remoteAddress?: (context: Context) => string | undefined
  /** The port that the hub listens on, if the settings leave it open. */
  port?: () => number
}

export interface RunningHub {
  /** @param bindings what the server knows about the connection, for `remoteAddress` */
  fetch(request: Request, bindings?: object): Response | Promise<Response>
  /** From then on, `/readyz` answers that the hub takes no more traffic. */
  drain(): void
  maintain(stop?: AbortSignal): ReturnType<typeof maintainHub>
  /** Resolves when all retrievals so far are recorded: await it before closing the database. */
  settled(): Promise<void>
  /** Embeds queued memories; returns how many got their vector. */
  embedWaiting(stop?: AbortSignal): Promise<number>
  /** What `/metrics` shows. */
  metrics: Registry
  /** The URL under which agents reach the hub, without a slash at its end. */
  home(): string
}

/**
 * The hub as a function of requests.
 *
 * @throws MemoryError CONFLICT when the database holds vectors of another model than the embedder's
 */
export async function createHub(config: HubConfig, dependencies: HubDependencies): Promise<RunningHub> {
  const { log = () => {} } = dependencies
  const hub = compose(config, dependencies, log)
  await ensureSystemConfig(hub)
  await refuseOtherModels(hub)

  const state = { draining: false }
  const observer = createObserver(log)
  const app = newRoutes()
  answerFailures(app, log)
  app.use(observer.middleware)
  app.use(openToPages(config))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: wrongMethod }))
  app.use(guardHost(config))
  identifyCallers(app, hub)
  limitBodies(app, config.maxBody)
  app.route('/', systemRoutes(hub, state))
  addRoutes(app, hub, addressOf(config, dependencies))
  app.route('/', metricsRoutes(observer.registry, maySeeMetrics(config)))
  return {
    fetch: (request, bindings) => app.fetch(request, bindings),
    drain() {
      state.draining = true
    },
    maintain: (stop) => maintainHub(hub, log, stop),
    settled: () => hub.retrievals.settled(),
    embedWaiting: (stop) => embedWaiting(hub, log, stop),
    metrics: observer.registry,
    home: hub.home,
  }
}

type App = ReturnType<typeof newRoutes>

/** Each request waits for Redis, which answers within a millisecond or two. */
const redisTimeoutMs = 50
/** Where counts are in Postgres, a request waits for them before it waits for anything else there. */
const countTimeoutMs = 1000

function compose(
  config: HubConfig,
  { database, embedder, redis, clock = systemClock, port = () => config.port }: HubDependencies,
  log: Log,
): Hub {
  const calls = createDatabaseCalls(config)
  const parts: HubParts = {
    config,
    database,
    embedder,
    clock,
    ...calls,
    limits: createLimits(config.limits, {
      redis,
      database: config.postgresUrl ? database : undefined,
      timeoutMs: redis ? redisTimeoutMs : Math.min(countTimeoutMs, config.databaseTimeoutMs),
      // Only the name: the message may repeat the statement and the identity that is counted.
      onAlone: ({ name }) =>
        log({ level: 'warn', event: 'requests are counted by this process alone', name }),
    }),
    auth: createAuthenticator(database, calls),
    home(requested) {
      if (config.publicUrl) return config.publicUrl.replace(/\/$/, '')
      return requested && answersAnyName(config) ? new URL(requested).origin : urlOf(config.host, port())
    },
  }
  return { ...parts, retrievals: createRetrievalLog(parts, log) }
}

/** Answers every failure with a problem document; those of the hub itself are logged. */
function answerFailures(app: App, log: Log): void {
  app.onError((error, context) => {
    // Before the answer is made: otherwise the headers that middleware set for web pages would replace these.
    for (const [name, value] of Object.entries(headersOf(error))) context.header(name, value)
    const answer = problemAnswer(context, error)
    if (answer.status >= 500) {
      const { cause } = error
      log({
        level: 'error',
        event: 'request failed',
        status: answer.status,
        route: context.req.routePath,
        ...loggedError(error),
        // The answer of the embedding provider, for the operator of the hub. Nothing of a database error is logged.
        ...(isMemoryError(cause) ? { says: cause.message } : {}),
      })
    }
    return answer
  })
  app.notFound((context) => problemAnswer(context, notFound(`${context.req.method} ${context.req.path}`)))
}

/** Identifies the caller, and keeps answers out of caches. */
function identifyCallers(app: App, hub: Hub): void {
  app.use('/mcp', async (context, next) => {
    // A proxy that compressed an answer would hold back its events.
    context.header('Cache-Control', 'private, no-store, no-transform')
    context.header('Vary', 'Authorization')
    context.set('principal', await hub.auth.authenticate(context.req.header('Authorization')))
    await next()
  })
  app.use('/api/v1/*', async (context, next) => {
    // Set before the handler runs: changing headers afterwards would rebuild the whole answer.
    context.header('Cache-Control', 'private, no-store')
    context.header('Vary', 'Authorization')
    context.header('X-Content-Type-Options', 'nosniff')
    if (!isOpen(context.req.method, context.req.path)) {
      const principal = await hub.auth.authenticate(context.req.header('Authorization'))
      if (dependsOnSearches(context.req.path)) {
        // A caller that asks after a search sees what it counted and whom it promoted. Searches themselves take care of
        // that.
        await hub.retrievals.nearlySettled()
      }
      context.set('principal', principal)
    }
    await next()
  })
}

function addRoutes(app: App, hub: Hub, callerAddress: (context: Context) => string): void {
  app.route('/', skillRoutes(hub))
  app.route('/', discoveryRoutes(hub))
  app.route(
    '/',
    mcpRoutes(hub, (request) => app.fetch(request)),
  )
  for (const routes of [
    agentRoutes(hub, callerAddress),
    memoryRoutes(hub),
    adminRoutes(hub),
    privateRoutes(hub),
  ]) {
    app.route('/api/v1', routes)
  }
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', { type: 'http', scheme: 'bearer' })
  app.route(
    '/',
    referenceRoutes(() => app.getOpenAPI31Document(apiOf(hub.config)) as never),
  )
}

/** The address of a caller, or of its network: the peer's, or the one that a trusted proxy names. */
const addressOf =
  ({ behindProxy }: HubConfig, { remoteAddress }: HubDependencies) =>
  (context: Context): string => {
    const named = behindProxy ? context.req.header('X-Forwarded-For')?.split(',').at(-1)?.trim() : undefined
    return networkOf(named ?? remoteAddress?.(context) ?? 'unknown')
  }

/** Whether a request may see the metrics: it has the token or, if none is set, comes from this machine. */
function maySeeMetrics(config: HubConfig): (context: Context) => boolean {
  // Behind a proxy, a request from this machine may originate anywhere.
  const isLocal = isLoopback(config.host) && !config.publicUrl && !config.behindProxy
  // The token is compared by its hash, as keys are.
  const tokenHash = config.metricsToken && hashOfKey(config.metricsToken)
  return (context) =>
    tokenHash ? hashOfKey(bearerOf(context.req.header('Authorization'))) === tokenHash : isLocal
}

/** Whether a request needs no key. Every other request below `/api` needs one. */
const isOpen = (method: string, path: string): boolean =>
  (method === 'POST' && path === '/api/v1/agents/register') ||
  (['GET', 'HEAD'].includes(method) && path === '/api/v1/health')

const dependsOnSearches = (path: string): boolean =>
  path !== '/api/v1/memory/search' && !path.startsWith('/api/v1/private/')

/** Headers that an error adds to its answer. */
const headersOf = (error: Error): Record<string, string> => {
  const { details } = error as { details?: { headers?: Record<string, string> } }
  return details?.headers ?? {}
}

const apiOf = ({ publicUrl }: HubConfig) => ({
  openapi: '3.1.0',
  info: { title: 'Recall', version: '1.0.0', description: 'Shared long-term memory for AI agents.' },
  ...(publicUrl ? { servers: [{ url: publicUrl }] } : {}),
})
