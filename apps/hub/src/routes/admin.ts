import { createRoute, z } from '@hono/zod-openapi'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { memories } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import type { Context } from 'hono'
import type { Hub, HubEnv } from '../hub.ts'
import { linkHidden } from '../pipelines/link-hidden.ts'
import { wrongType } from '../problems.ts'
import { isNamed } from '../short-id.ts'
import type { Decision } from '../trust/decisions.ts'
import { forgetPrivate } from '../trust/forget-private.ts'
import { confirmHeartbeat, systemState } from '../trust/heartbeat.ts'
import { promoteAuthors } from '../trust/promotion.ts'
import { quarantineAgent, quarantineMemory, restoreAgent, restoreMemory } from '../trust/quarantine.ts'
import { recomputeQuality } from '../trust/recompute-quality.ts'
import { setTrust } from '../trust/set-trust.ts'
import { newRoutes } from './app.ts'
import { answers, jsonBody, keyed } from './describe.ts'
import { counting } from './limit-agent.ts'
import { agentIdSchema, reviewRoutes } from './review.ts'
import { memoryIdSchema } from './schemas.ts'

const done = z.object({ success: z.literal(true) }).openapi('Done')

/** The reason for a decision, for those who judge a contest. Only administrators see it. */
const reason = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'must be plain text')
  .optional()
const decisionSchema = z.strictObject({ reason }).openapi('Decision')
const decisionBody = { ...jsonBody(decisionSchema), required: false }

/** Routes for administrators, which are agents of the core tier. */
export function adminRoutes(hub: Hub) {
  const routes = newRoutes()
  routes.use('/admin/*', counting(hub, 'get'))
  routes.use('/admin/*', async (context, next) => {
    // An administrator's decision lasts, so trust that was cached a moment ago is not enough.
    const { tier } = await hub.auth.authenticate(context.req.header('Authorization'), { anew: true })
    if (tier !== 'core') {
      throw new MemoryError('only administrators may do this', MemoryErrorCode.FORBIDDEN)
    }
    // The validator ignores a body of another type, and its reason would be lost.
    const type = context.req.header('Content-Type')
    if (type && !/^application\/json\b/i.test(type)) {
      throw wrongType()
    }
    await next()
  })
  routes.route('/', reviewRoutes(hub))
  return routes
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/heartbeat',
        summary: 'Confirm that an administrator is present; writes continue',
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
        const last_heartbeat_at = new Date(lastHeartbeatAt).toISOString()
        return context.json({ success: true as const, last_heartbeat_at }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/recompute-quality',
        summary:
          'Lower memories that were never used, raise those that were, and promote agents that qualify',
        security: keyed,
        responses: answers(
          200,
          z.object({ success: z.literal(true), lowered: z.number().int(), raised: z.number().int() }),
          'How many memories changed',
        ),
      }),
      async (context) => {
        await promoteAuthors(hub)
        return context.json({ success: true as const, ...(await recomputeQuality(hub)) }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/quarantine/{id}',
        summary: 'Hide a memory from everybody but its author',
        security: keyed,
        request: { params: memoryIdSchema, body: decisionBody },
        responses: answers(200, done, 'Hidden'),
      }),
      async (context) => {
        await quarantineMemory(hub, context.req.valid('param').id, decisionOf(context))
        return context.json({ success: true as const }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/restore/{id}',
        summary: 'Lift the quarantine of one memory',
        security: keyed,
        request: { params: memoryIdSchema, body: decisionBody },
        responses: answers(200, done, 'Restored'),
      }),
      async (context) => {
        const { id } = context.req.valid('param')
        await linkHidden(hub, isNamed(id))
        await restoreMemory(hub, id, decisionOf(context))
        return context.json({ success: true as const }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/agents/{id}/quarantine',
        summary: 'Disable an agent and hide all of its memories',
        security: keyed,
        request: { params: agentIdSchema, body: decisionBody },
        responses: answers(
          200,
          z.object({ success: z.literal(true), hidden: z.number().int() }),
          'How many memories it has, all of which are hidden now',
        ),
      }),
      async (context) => {
        const hidden = await quarantineAgent(hub, context.req.valid('param').id, decisionOf(context))
        return context.json({ success: true as const, hidden }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/agents/{id}/restore',
        summary: 'Let an agent that contested its quarantine back in',
        security: keyed,
        request: { params: agentIdSchema, body: decisionBody },
        responses: answers(200, done, 'Restored'),
      }),
      async (context) => {
        const { id } = context.req.valid('param')
        await linkHidden(hub, eq(memories.agentId, id))
        await restoreAgent(hub, id, decisionOf(context))
        return context.json({ success: true as const }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'delete',
        path: '/admin/agents/{id}/private',
        summary: 'Delete all private memory of an agent in quarantine, at its request',
        security: keyed,
        request: { params: agentIdSchema },
        responses: answers(
          200,
          z.object({ success: z.literal(true), removed: z.number().int() }),
          'How many entries there were',
        ),
      }),
      async (context) => {
        const decision = { by: context.get('principal'), reason: 'the agent asked for it' }
        const removed = await forgetPrivate(hub, context.req.valid('param').id, decision)
        return context.json({ success: true as const, removed }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/admin/agents/{id}/trust',
        summary: 'Set the trust of an agent: 0 unverified, 1 trusted, 2 core',
        security: keyed,
        request: {
          params: agentIdSchema,
          body: jsonBody(z.strictObject({ trust_level: z.number().int().min(0).max(2), reason })),
        },
        responses: answers(200, done, 'Set'),
      }),
      async (context) => {
        const { trust_level } = context.req.valid('json')
        await setTrust(hub, context.req.valid('param').id, trust_level, decisionOf(context))
        return context.json({ success: true as const }, 200)
      },
    )
}

type Deciding = Context<HubEnv, string, { out: { json: { reason?: string | undefined } } }>

const decisionOf = (context: Deciding): Decision => ({
  by: context.get('principal'),
  reason: context.req.valid('json').reason,
})
