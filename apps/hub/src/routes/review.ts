import { createRoute, z } from '@hono/zod-openapi'
import type { Hub } from '../hub.ts'
import { deleteMemory } from '../pipelines/delete-memory.ts'
import { agentsNamed, reviewAgent, reviewMemory } from '../trust/review.ts'
import { newRoutes } from './app.ts'
import { answers, keyed } from './describe.ts'
import { memoryIdSchema, nameSchema } from './schemas.ts'

export const agentIdSchema = z.object({ id: z.uuid() })

const aCount = 'must be a whole number from 0'
const offsetSchema = z.coerce
  .number(aCount)
  .int(aCount)
  .min(0, aCount)
  .max(1_000_000)
  .default(0)
  .openapi({ type: 'integer' })

const instant = z.string()
const success = z.literal(true)
const quality = z.number().int().openapi({ description: '0 good, -1 low signal, -2 in quarantine' })

const reviewedAgent = z
  .object({
    id: z.uuid(),
    name: z.string(),
    trust_level: z.number().int(),
    created_at: instant,
    promoted_at: instant.nullable(),
    disabled_at: instant.nullable(),
    quarantines: z.number().int(),
    notes: z.array(z.string()).openapi({ description: 'what was decided, when, by whom and why' }),
  })
  .openapi('ReviewedAgent')

const reviewedMemory = z
  .object({
    id: z.uuid(),
    short_id: z.string(),
    content: z.string(),
    tags: z.array(z.string()),
    source_url: z.string().nullable(),
    created_at: instant,
    deleted_at: instant.nullable(),
    quality,
    duplicate_of: z.uuid().nullable(),
    retrieval_count: z.number().int(),
    citations: z.number().int(),
    author: reviewedAgent,
  })
  .openapi('ReviewedMemory')

const promotionSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  trust_level: z.number().int(),
  at: instant,
})
const promotions = (description: string) => z.array(promotionSchema).openapi({ description })

/** Routes that administrators read before they decide. Middleware has checked that the caller is one. */
export function reviewRoutes(hub: Hub) {
  return newRoutes()
    .openapi(
      createRoute({
        method: 'get',
        path: '/admin/memory/{id}',
        summary: 'Read a memory as it is stored, even in quarantine, and who wrote it',
        security: keyed,
        request: { params: memoryIdSchema },
        responses: answers(200, z.object({ success, memory: reviewedMemory }), 'The memory'),
      }),
      async (context) => {
        const memory = await reviewMemory(hub, context.req.valid('param').id)
        return context.json({ success: true as const, memory }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'delete',
        path: '/admin/memory/{id}',
        summary: 'Delete a memory at the request of its author',
        security: keyed,
        request: { params: memoryIdSchema },
        responses: answers(
          200,
          z.object({ success, status: z.enum(['deleted', 'tombstone']) }),
          'Deleted, or kept as a tombstone if others had cited it or it is in quarantine',
        ),
      }),
      async (context) => {
        const { id, author } = await reviewMemory(hub, context.req.valid('param').id)
        const decision = { by: context.get('principal'), reason: 'its author asked for it' }
        const status = await deleteMemory(hub, author, id, decision)
        return context.json({ success: true as const, status }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/admin/agents',
        summary: 'Find agents by name, the newest first',
        security: keyed,
        request: { query: z.object({ name: nameSchema, offset: offsetSchema }) },
        responses: answers(
          200,
          z.object({ success, agents: z.array(reviewedAgent) }),
          'At most 100, after the first `offset`',
        ),
      }),
      async (context) => {
        const { name, offset } = context.req.valid('query')
        const agents = await agentsNamed(hub, name, offset)
        return context.json({ success: true as const, agents }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/admin/agents/{id}',
        summary: 'Decisions about an agent, who vouched for whom, and its newest memories',
        security: keyed,
        request: { params: agentIdSchema },
        responses: answers(
          200,
          z.object({
            success,
            agent: reviewedAgent.extend({
              vouched_by: promotions('whose retrievals made it trusted'),
              vouched_for: promotions('whom its retrievals made trusted'),
              memories: z.array(
                z.object({ id: z.uuid(), short_id: z.string(), quality, created_at: instant }),
              ),
            }),
          }),
          'The agent, with at most 100 of each list',
        ),
      }),
      async (context) => {
        const agent = await reviewAgent(hub, context.req.valid('param').id)
        return context.json({ success: true as const, agent }, 200)
      },
    )
}
