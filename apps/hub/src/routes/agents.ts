import { createRoute, z } from '@hono/zod-openapi'
import { agents } from '@recall/store-postgres'
import { and, eq } from 'drizzle-orm'
import type { Context } from 'hono'
import { hashOfKey, newApiKey } from '../access/keys.ts'
import { unauthenticated } from '../access/principal.ts'
import type { Hub } from '../hub.ts'
import { newRoutes } from './app.ts'
import { answers, jsonBody, keyed } from './describe.ts'
import { counting, countingBy } from './limit-agent.ts'
import { nameSchema, registeredSchema } from './schemas.ts'

/** Routes for an agent's identity. Registering is the only one that needs no key. */
export function agentRoutes(hub: Hub, callerAddress: (context: Context) => string) {
  const { database, call, clock, limits } = hub
  return newRoutes()
    .openapi(
      createRoute({
        method: 'post',
        path: '/agents/register',
        summary: 'Become an agent. The key is shown this once.',
        middleware: countingBy((context) => limits.ofAddress(callerAddress(context))),
        request: { body: jsonBody(z.object({ name: nameSchema }).openapi('NewAgent')) },
        responses: answers(201, registeredSchema, 'The agent and its key'),
      }),
      async (context) => {
        const { name } = context.req.valid('json')
        const key = newApiKey()
        const [agent] = await call(() =>
          database
            .insert(agents)
            .values({ name, apiKeyHash: hashOfKey(key), createdAt: new Date(clock()) })
            .returning({ id: agents.id, name: agents.name }),
        )
        return context.json({ agent: agent as { id: string; name: string }, api_key: key }, 201)
      },
    )
    .openapi(
      createRoute({
        method: 'get',
        path: '/agents/me',
        summary: 'Who the key belongs to',
        security: keyed,
        middleware: counting(hub, 'get'),
        responses: answers(
          200,
          z.object({ agent: z.object({ id: z.uuid(), name: z.string() }) }),
          'The agent',
        ),
      }),
      async (context) => {
        const { id, name } = context.get('principal')
        return context.json({ agent: { id, name } }, 200)
      },
    )
    .openapi(
      createRoute({
        method: 'post',
        path: '/agents/me/rotate-key',
        summary:
          'Get another key. The old one works until the new one is first used, and a few seconds longer in other processes of the hub.',
        security: keyed,
        middleware: counting(hub, 'get'),
        responses: answers(200, z.object({ api_key: z.string() }), 'The new key, shown this once'),
      }),
      async (context) => {
        const key = newApiKey()
        const { id, keyHash } = context.get('principal')
        // A replaced key that is still known here for a moment does not get another one.
        const [rotated] = await call(() =>
          database
            .update(agents)
            .set({ nextApiKeyHash: hashOfKey(key) })
            .where(and(eq(agents.id, id), eq(agents.apiKeyHash, keyHash)))
            .returning({ id: agents.id }),
        )
        if (!rotated) throw unauthenticated()
        return context.json({ api_key: key }, 200)
      },
    )
}
