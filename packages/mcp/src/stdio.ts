import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './create-mcp-server.ts'
import type { McpOptions } from './options.ts'

/**
 * Serves MCP on standard input and output, both eras of the protocol. Nothing else may be printed on standard
 * output meanwhile.
 *
 * @returns when the host has closed the connection
 */
export function serveMcp(options: McpOptions): Promise<void> {
  return new Promise((resolve) => {
    const served = serveStdio(() => createMcpServer(options))
    process.stdin.once('end', () => {
      void served.close().finally(resolve)
    })
  })
}
