import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { createMcpServer } from './create-mcp-server.ts'
import type { McpOptions } from './options.ts'

export interface McpHandlerOptions {
  /**
   * Chooses the memory that a request sees. Called for each request, after the caller has been authenticated.
   *
   * @param principal the principal that was passed to `fetch`
   */
  optionsFor(principal: unknown): McpOptions | Promise<McpOptions>
  /** Accepted host names of requests. Default: those of this machine. */
  allowedHosts?: readonly string[]
  /** Accepted host names of the pages that send requests; a request without an `Origin` does not come from a page. */
  allowedOrigins?: readonly string[]
}

const local = ['localhost', '127.0.0.1', '[::1]']

/**
 * MCP over HTTP, for any server that works with the web's `Request` and `Response`. It serves both eras of the
 * protocol, each request as one stateless exchange. A foreign `Host` or `Origin` gets 403, and a body over 4 MiB is
 * refused. It authenticates nobody: check the caller first, and pass the result as `principal`.
 */
export function createMcpFetch(options: McpHandlerOptions) {
  const hosts = [...(options.allowedHosts ?? local)]
  const origins = [...(options.allowedOrigins ?? local)]
  const handler = createMcpHandler(async ({ authInfo }) =>
    createMcpServer(await options.optionsFor(authInfo?.extra?.principal)),
  )

  return {
    /** @param principal the authenticated caller, handed to `optionsFor` */
    async fetch(request: Request, principal?: unknown): Promise<Response> {
      const refused =
        hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
      if (refused) return refused
      const authInfo: AuthInfo = { token: '', clientId: 'recall', scopes: [], extra: { principal } }
      return handler.fetch(request, { authInfo })
    },
    close: (): Promise<void> => handler.close(),
  }
}
