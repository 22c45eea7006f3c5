import { connectHub } from '@recall/client'
import { createMcpFetch, type McpOptions } from '@recall/mcp'
import { fenceRecalled } from '@recall/sessions'
import { newRoutes } from './app.ts'

/** Who asks, and under which name it reached the hub. */
interface Caller {
  key: string
  origin: string
}

/**
 * The hub for agents that speak the Model Context Protocol: an agent's own memory, and what all share. Each call
 * goes through the same routes as over HTTP, with the caller's key, limits and all.
 *
 * @param fetch answers a request to this hub, without a socket
 */
export function mcpRoutes(fetch: (request: Request) => Response | Promise<Response>) {
  const optionsFor = ({ key, origin }: Caller): McpOptions => {
    const hub = connectHub({ url: origin, apiKey: key, retries: 0, fetch })
    return { memory: hub.memory, fence: (text, source) => fenceRecalled(text, { source }), hub }
  }
  const server = createMcpFetch({ optionsFor: (principal) => optionsFor(principal as Caller) })

  // The caller is authenticated and the host checked by then, as for every route.
  return newRoutes().all('/mcp', async (context) => {
    const { origin } = new URL(context.req.url)
    const key = (context.req.header('Authorization') ?? '').replace(/^Bearer /i, '')
    const request = new Request(context.req.raw)
    request.headers.set('Host', 'localhost')
    request.headers.delete('Origin')
    const answer = await server.fetch(request, { key, origin } satisfies Caller)
    answer.headers.set('Cache-Control', 'private, no-store, no-transform')
    // Returned as it is, it would lack the headers that every answer of the hub has.
    return context.newResponse(answer.body, answer)
  })
}
