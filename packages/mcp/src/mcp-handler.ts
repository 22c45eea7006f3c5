import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { checkHandlerOptions } from './check-options.ts'
import { createMcpServer } from './create-mcp-server.ts'
import type { McpHandlerOptions } from './options.ts'

const local = ['localhost', '127.0.0.1', '[::1]']

/**
 * MCP over HTTP, for any server that works with the web's `Request` and `Response`. It serves both eras of the
 * protocol, each request as one stateless exchange. A foreign `Host` or `Origin` gets 403, and a body over 4 MiB is
 * refused. It authenticates nobody: check the caller first, and pass the result as `principal`.
 *
 * @throws MemoryError INVALID_INPUT when an option is missing, wrong or unknown
 */
export function createMcpFetch(options: McpHandlerOptions) {
  checkHandlerOptions(options)
  const hosts = [...(options.allowedHosts ?? local)]
  const origins = [...(options.allowedOrigins ?? local)]
  const handler = createMcpHandler(
    async ({ authInfo }) => createMcpServer(await options.optionsFor(authInfo?.extra?.principal)),
    { onerror: (error) => void tell(options.onError, error) },
  )
  let closed = false

  return {
    /**
     * @param principal the authenticated caller, handed to `optionsFor`
     * @throws MemoryError CLOSED after `close`
     */
    async fetch(request: Request, principal?: unknown): Promise<Response> {
      if (closed) throw new MemoryError('this server is closed: create another', MemoryErrorCode.CLOSED)
      const refused =
        hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
      if (refused) return refused
      const authInfo: AuthInfo = { token: '', clientId: 'recall', scopes: [], extra: { principal } }
      return handler.fetch(request, { authInfo })
    },
    close(): Promise<void> {
      closed = true
      return handler.close()
    },
  }
}

/** Calls a listener, which may be asynchronous: its own errors must not change an answer, nor end the process. */
async function tell(onError: McpHandlerOptions['onError'], error: Error): Promise<void> {
  try {
    await onError?.(error)
  } catch {}
}
