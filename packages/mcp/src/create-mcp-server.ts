import { McpServer } from '@modelcontextprotocol/server'
import { checkMcpOptions } from './check-options.ts'
import { hubInstructions, instructions } from './instructions.ts'
import type { McpOptions } from './options.ts'
import { addHubTools } from './tools/hub-tools.ts'
import { addForget } from './tools/memory-forget.ts'
import { addRead } from './tools/memory-read.ts'
import { addRemember } from './tools/memory-remember.ts'
import { addSearch } from './tools/memory-search.ts'
import { addSessionContext } from './tools/session-context.ts'

/**
 * Creates an MCP server over a memory. It is cheap: every HTTP request gets its own server, all over the same memory.
 *
 * @throws MemoryError INVALID_INPUT when an option is missing, wrong or unknown
 */
export function createMcpServer(options: McpOptions): McpServer {
  checkMcpOptions(options)
  const { hub, version = '0.0.0' } = options
  const server = new McpServer(
    { name: 'recall', title: 'Recall', version },
    {
      instructions: hub ? instructions + hubInstructions : instructions,
      // The tools never change: a stream that waits for changes would be kept open for nothing.
      capabilities: { tools: { listChanged: false } },
    },
  )
  // Always in this order, because hosts keep the list of tools in their prompt caches.
  addSearch(server, options)
  addRemember(server, options)
  addRead(server, options)
  addForget(server, options)
  addSessionContext(server, options)
  if (hub) addHubTools(server, hub)
  return server
}
