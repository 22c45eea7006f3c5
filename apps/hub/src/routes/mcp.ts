import { connectHub } from '@recall/client'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { createMcpFetch, type McpOptions } from '@recall/mcp'
import { bearerOf } from '../access/keys.ts'
import type { Hub } from '../hub.ts'
import { newRoutes } from './app.ts'
import { countingAlike } from './limit-agent.ts'
import { textOf } from './limit-bodies.ts'

/** The caller's key, and the origin under which it reached the hub. */
interface Caller {
  key: string
  origin: string
}

/**
 * The hub over the Model Context Protocol: an agent's private memory, and the shared one. Each tool call goes through
 * the HTTP routes with the caller's key, so the same limits apply; the MCP request itself is counted as well, whatever
 * it holds.
 *
 * @param fetch answers a request to this hub, without a socket
 */
export function mcpRoutes(
  { limits }: Pick<Hub, 'limits'>,
  fetch: (request: Request) => Response | Promise<Response>,
) {
  const optionsFor = ({ key, origin }: Caller): McpOptions => {
    const hub = connectHub({ url: origin, apiKey: key, retries: 0, fetch })
    return { memory: hub.memory, hub, version: process.env.RECALL_VERSION ?? '0.0.0' }
  }
  const server = createMcpFetch({ optionsFor: (principal) => optionsFor(principal as Caller) })

  // Middleware has authenticated the caller and checked the host.
  return newRoutes().all('/mcp', countingAlike(limits.ofMcp), async (context) => {
    refuseLongBatch(await textOf(context.req.raw.clone()))
    const { origin } = new URL(context.req.url)
    const key = bearerOf(context.req.header('Authorization'))
    const request = new Request(context.req.raw)
    request.headers.set('Host', 'localhost')
    request.headers.delete('Origin')
    const answer = await server.fetch(request, { key, origin } satisfies Caller)
    // Wrapped, because a bare `Response` would lack the headers that the middleware sets; its own would not last.
    answer.headers.delete('Cache-Control')
    return context.newResponse(answer.body, answer)
  })
}

/** Most messages in a batch, which protocols before 2025-06-18 have: a request is counted once. */
const mostInBatch = 10

function refuseLongBatch(body: string): void {
  if (!/^\s*\[/.test(body) || lengthOf(body) <= mostInBatch) return
  throw new MemoryError(
    `a batch has at most ${mostInBatch} messages: send the others in another request`,
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** @returns 0 for a body that is not a list: the MCP handler answers it */
function lengthOf(json: string): number {
  try {
    return (JSON.parse(json) as unknown[]).length
  } catch {
    return 0
  }
}
