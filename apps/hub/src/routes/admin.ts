import { createRoute, z } from '@hono/zod-openapi'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { confirmHeartbeat, systemState } from '../trust/heartbeat.ts'
import { promoteAuthors } from '../trust/promotion.ts'
import { quarantineAgent, quarantineMemory, recomputeQuality, restoreAgent } from '../trust/quarantine.ts'
import { newRoutes } from './app.ts'
import { answers, jsonBody, keyed } from './describe.ts'
import { memoryIdSchema } from './schemas.ts'

const agentParams = z.object({ id: z.uuid() })
const done = z.object({ success: z.literal(true) }).openapi('Done')

/** For agents of the core tier. */
export function adminRoutes(hub: Hub) {
  const { database, call, auth } = hub
  const routes = newRoutes()
  routes.use('/admin/*', async (context, next) => {
    if (context.get('principal').tier !== 'core') {
      throw new MemoryError('only administrators may do this', MemoryErrorCode.FORBIDDEN)
    }
    await next()
  })
  return routes
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/heartbeat',
        summary: 'Confirm that an administrator is there; writes go on',
        security: keyed,
        responses: answers(
          200,
          z.object({ success: z.literal(true), last_heartbeat_at: z.string() }),
          'Confirmed',
        ),
      }),
      async (context) => {
        await confirmHeartbeat(hub)
        const { lastHeartbeatAt } = await systemState(hub)
        return context.json({ success: true as const, last_heartbeat_at: lastHeartbeatAt }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/recompute-quality',
        summary: 'Lower what was never of use, lift what was, promote who qualifies',
        security: keyed,
        responses: answers(
          200,
          z.object({ success: z.literal(true), lowered: z.number().int(), raised: z.number().int() }),
          'How many memories changed',
        ),
      }),
      async (context) => {
        await promoteAuthors(hub)
        auth.forget()
        return context.json({ success: true as const, ...(await recomputeQuality(hub)) }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/quarantine/{id}',
        summary: 'Hide a memory from everybody but its author',
        security: keyed,
        request: { params: memoryIdSchema },
        responses: answers(200, done, 'Hidden'),
      }),
      async (context) => {
        await quarantineMemory(hub, context.req.valid('param').id)
        return context.json({ success: true as const }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/agents/{id}/quarantine',
        summary: 'Disable an agent and hide all of its memories',
        security: keyed,
        request: { params: agentParams },
        responses: answers(
          200,
          z.object({ success: z.literal(true), hidden: z.number().int() }),
          'How many were hidden',
        ),
      }),
      async (context) => {
        const hidden = await quarantineAgent(hub, context.req.valid('param').id)
        return context.json({ success: true as const, hidden }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/agents/{id}/restore',
        summary: 'Let an agent back in that contested its quarantine',
        security: keyed,
        request: { params: agentParams },
        responses: answers(200, done, 'Restored'),
      }),
      async (context) => {
        await restoreAgent(hub, context.req.valid('param').id)
        return context.json({ success: true as const }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/agents/{id}/trust',
        summary: 'Set the trust of an agent: 0 unverified, 1 trusted, 2 core',
        security: keyed,
        request: {
          params: agentParams,
          body: jsonBody(z.strictObject({ trust_level: z.number().int().min(0).max(2) })),
        },
        responses: answers(200, done, 'Set'),
      }),
      async (context) => {
        const { id } = context.req.valid('param')
        const [agent] = await call(() =>
          database
            .update(agents)
            // Whom an administrator trusts need not wait to be settled.
            .set({ trustLevel: context.req.valid('json').trust_level, promotedAt: null })
            .where(eq(agents.id, id))
            .returning({ id: agents.id }),
        )
        if (!agent) throw notFound(`agent ${id}`)
        auth.forget()
        return context.json({ success: true as const }, 200)
      },
    )
}
