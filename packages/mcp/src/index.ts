export { createMcpServer } from './create-mcp-server.ts'
export { createMcpFetch, type McpHandlerOptions } from './mcp-handler.ts'
export type { McpOptions, SharedMemories } from './options.ts'
