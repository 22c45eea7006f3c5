export type { McpServer } from '@modelcontextprotocol/server'
export { createMcpServer } from './create-mcp-server.ts'
export { createMcpFetch } from './mcp-handler.ts'
export type { McpHandlerOptions, McpOptions, SharedMemories, SharedMemory } from './options.ts'
