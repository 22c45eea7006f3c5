import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { checkMcpOptions } from './check-options.ts'
import { createMcpServer } from './create-mcp-server.ts'
import { createDrainingStdio } from './draining-stdio.ts'
import type { McpOptions } from './options.ts'

/**
 * Serves MCP on standard input and output, in both eras of the protocol. Nothing else may write to standard output
 * meanwhile.
 *
 * @returns when the host has closed the connection and its requests have been answered
 * @throws MemoryError INVALID_INPUT when an option is missing, wrong or unknown
 */
export async function serveMcp(options: McpOptions): Promise<void> {
  // First: the server is only created when the host has sent something.
  checkMcpOptions(options)
  const { transport, ended } = createDrainingStdio(process.stdin, process.stdout)
  const served = serveStdio(() => createMcpServer(options), { transport })
  await ended
  await served.close()
}
