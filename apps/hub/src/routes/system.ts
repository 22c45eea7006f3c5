import { createRoute, z } from '@hono/zod-openapi'
import type { Hub } from '../hub.ts'
import { hasCurrentModel } from '../pipelines/current-model.ts'
import { newRoutes } from './app.ts'
import { answers } from './describe.ts'

const healthSchema = z.object({
  status: z.enum(['ok', 'degraded']),
  protocol_version: z.literal('1.0.0'),
  /**
   * The model whose vectors memories are compared by. A model whose name begins with `fake` does not compare by
   * meaning.
   */
  embedding_model: z.string(),
})

const fresh = { 'Cache-Control': 'no-store' }
/** With every 503: when to ask again, in seconds. */
const soon = { 'Retry-After': '1' }

/** Liveness and readiness. The answers are terse, so that they reveal nothing to a stranger. */
export function systemRoutes(hub: Hub, state: { draining: boolean }) {
  /** Why the hub cannot serve, or `undefined` when it can. */
  const trouble = async (): Promise<string | undefined> => {
    if (state.draining) return 'stopping'
    try {
      return (await hasCurrentModel(hub))
        ? undefined
        : 'the memories have another embedding model: start again'
    } catch {
      return 'no database'
    }
  }
  const routes = newRoutes()
  routes.get('/livez', (context) => context.text('ok', 200, fresh))
  for (const path of ['/readyz', '/healthz']) {
    routes.get(path, async (context) => {
      const reason = await trouble()
      return context.json(
        reason ? { ready: false, reason } : { ready: true },
        reason ? 503 : 200,
        reason ? { ...fresh, ...soon } : fresh,
      )
    })
  }
  return routes.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/health',
      summary: 'Whether the hub works',
      responses: {
        ...answers(200, healthSchema, 'It does'),
        503: { description: 'It does not', content: { 'application/json': { schema: healthSchema } } },
      },
    }),
    async (context) => {
      const ready = (await trouble()) === undefined
      const status = ready ? ('ok' as const) : ('degraded' as const)
      const body = { status, protocol_version: '1.0.0' as const, embedding_model: hub.embedder.model }
      return context.json(body, ready ? 200 : 503, ready ? fresh : { ...fresh, ...soon })
    },
  )
}
