import { connectHub } from '@recall/client'
import { createMcpFetch, type McpOptions } from '@recall/mcp'
import { bearerOf } from '../access/keys.ts'
import { newRoutes } from './app.ts'

/** The caller's key, and the origin under which it reached the hub. */
interface Caller {
  key: string
  origin: string
}

/**
 * The hub over the Model Context Protocol: an agent's private memory, and the shared one. Each tool call goes through
 * the HTTP routes with the caller's key, so the same limits apply.
 *
 * @param fetch answers a request to this hub, without a socket
 */
export function mcpRoutes(fetch: (request: Request) => Response | Promise<Response>) {
  const optionsFor = ({ key, origin }: Caller): McpOptions => {
    const hub = connectHub({ url: origin, apiKey: key, retries: 0, fetch })
    return { memory: hub.memory, hub }
  }
  const server = createMcpFetch({ optionsFor: (principal) => optionsFor(principal as Caller) })

  // Middleware has authenticated the caller and checked the host.
  return newRoutes().all('/mcp', async (context) => {
    const { origin } = new URL(context.req.url)
    const key = bearerOf(context.req.header('Authorization'))
    const request = new Request(context.req.raw)
    request.headers.set('Host', 'localhost')
    request.headers.delete('Origin')
    const answer = await server.fetch(request, { key, origin } satisfies Caller)
    answer.headers.set('Cache-Control', 'private, no-store, no-transform')
    // Wrapped, because a bare `Response` would lack the headers that the middleware sets.
    return context.newResponse(answer.body, answer)
  })
}
