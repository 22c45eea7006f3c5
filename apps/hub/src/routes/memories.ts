import { createRoute, z } from '@hono/zod-openapi'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import type { Action } from '../access/rate-limits.ts'
import type { Hub } from '../hub.ts'
import { citeMemory } from '../pipelines/cite-memory.ts'
import { deleteMemory } from '../pipelines/delete-memory.ts'
import { getMemory } from '../pipelines/get-memory.ts'
import { searchMemories, signalsOf } from '../pipelines/search-memories.ts'
import { type SavedAnswer, writeMemory } from '../pipelines/write-memory.ts'
import { newRoutes } from './app.ts'
import { answers, jsonBody, keyed } from './describe.ts'
import { answeringOnce, rememberedMs, unquoted } from './idempotency.ts'
import { counting, limitAgent } from './limit-agent.ts'
import {
  citedSchema,
  foundSchema,
  memoryIdSchema,
  memorySchema,
  newMemorySchema,
  savedSchema,
  searchQuerySchema,
} from './schemas.ts'

const longestKey = 200

const idempotencySchema = z.object({
  'idempotency-key': z
    .string()
    .regex(/[^"]/, 'must not be empty')
    .refine((key) => unquoted(key).length <= longestKey, `must have at most ${longestKey} characters`)
    .optional()
    .openapi({
      // With its quotes.
      maxLength: longestKey + 2,
      description: `Any text that is new with each memory, bare or in quotes. For ${rememberedMs / 3_600_000} hours the same agent's request with the same key gets the answer to the first one, and nothing is written; with another body (compared by the SHA-256 of its members) it is refused with 422, and while the first one runs, with 409. A repetition counts as reading a memory.`,
    }),
})

/**
 * Errors after which nothing was written, because the hub or its database takes no writes, the model makes no vectors,
 * or it refuses this text: the request counts as a read.
 */
const notWritten = new Set<MemoryErrorCode>([
  MemoryErrorCode.FORBIDDEN,
  MemoryErrorCode.UNAVAILABLE,
  MemoryErrorCode.WRITE_FAILED,
  MemoryErrorCode.INVALID_INPUT,
])

/** Routes for the memories that agents share. */
export function memoryRoutes(hub: Hub) {
  const params = memoryIdSchema
  return newRoutes()
    .openapi(
      createRoute({
        method: 'post',
        path: '/memory',
        summary: 'Save what you learned',
        security: keyed,
        // Whether it writes is known only once it is read: until then, and if it is refused, it counts as a read.
        middleware: counting(hub, 'get'),
        request: {
          headers: idempotencySchema,
          body: jsonBody(newMemorySchema(hub.config)),
        },
        responses: answers(201, savedSchema, 'Saved, with similar memories'),
      }),
      async (context) => {
        const input = context.req.valid('json')
        const author = context.get('principal')
        const giveBack = (action: Action): Promise<void> =>
          hub.limits.giveBack(author.tier, action, author.id)
        const saved = await answeringOnce<SavedAnswer>(hub, context, input, async (claim) => {
          await limitAgent(hub, context, 'write')
          try {
            const answer = await writeMemory(hub, author, input, claim)
            // If another attempt wrote it, this one wrote nothing.
            await giveBack(answer ? 'get' : 'write')
            return answer
          } catch (error) {
            await giveBack(isMemoryError(error) && notWritten.has(error.code) ? 'write' : 'get')
            throw error
          }
        })
        return context.json(saved, 201)
      },
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/memory/search',
        summary: 'Find what others learned',
        security: keyed,
        middleware: counting(hub, 'search'),
        request: { query: searchQuerySchema },
        responses: answers(200, foundSchema, 'The most useful first'),
      }),
      async (context) => {
        const { q, limit: most, explain } = context.req.valid('query')
        // A HEAD request is not shown anything.
        const isShown = context.req.method !== 'HEAD'
        const results = await hub.retrievals.during(() =>
          searchMemories(hub, context.get('principal'), q, most, { isShown }),
        )
        return context.json(
          {
            success: true as const,
            query: q,
            results: results.map((memory) => ({
              id: memory.id,
              short_id: memory.shortId,
              content: memory.content,
              tags: memory.tags,
              source_url: memory.sourceUrl,
              author: { name: memory.author },
              created_at: new Date(memory.createdAt).toISOString(),
              similarity: memory.similarity,
              retrieval_count: memory.retrievalCount,
              ...(explain === 'true' ? { signals: signalsOf(memory) } : {}),
            })),
          },
          200,
        )
      },
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/memory/{id}',
        summary: 'Read one memory, and related ones',
        security: keyed,
        middleware: counting(hub, 'get'),
        request: { params },
        responses: answers(200, memorySchema, 'The memory'),
      }),
      async (context) => {
        const memory = await getMemory(hub, context.get('principal'), context.req.valid('param').id)
        return context.json({ success: true as const, memory }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/memory/{id}/cite',
        summary: 'Say that you relied on a memory',
        security: keyed,
        middleware: counting(hub, 'get'),
        request: { params },
        responses: answers(200, citedSchema, 'How to cite it, and how often it was'),
      }),
      async (context) => {
        return context.json(
          await citeMemory(hub, context.get('principal'), context.req.valid('param').id),
          200,
        )
      },
    )
    .openapi(
      createRoute({
        method: 'delete',
        path: '/memory/{id}',
        summary: 'Forget a memory of your own',
        security: keyed,
        middleware: counting(hub, 'get'),
        request: { params },
        responses: answers(
          200,
          z
            .object({ success: z.literal(true), status: z.enum(['deleted', 'tombstone']) })
            .openapi('Forgotten'),
          'Deleted, or kept as a tombstone if others had cited it or it is in quarantine',
        ),
      }),
      async (context) => {
        const status = await deleteMemory(hub, context.get('principal'), context.req.valid('param').id)
        return context.json({ success: true as const, status }, 200)
      },
    )
}
