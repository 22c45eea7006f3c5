import type { McpServer } from '@modelcontextprotocol/server'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answer, orFailure } from './answer.ts'
import { key, readAny, scope } from './stored-memory.ts'

export function addForget(server: McpServer, options: McpOptions): void {
  const { memory } = options
  server.registerTool(
    'memory_forget',
    {
      title: 'Forget a memory',
      description: `Removes one memory for good, by its exact key. Only when the user asks for it.${options.forget ? ' Forgetting the archive of a session, conversation:<id> in episodic, removes everything kept of that session: its other parts, those of its helpers, and its summary.' : ''}`,
      inputSchema: z.strictObject({ key, scope }),
      outputSchema: z.object({ key: z.string(), scope, forgotten: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ key: name, scope: where }) =>
      orFailure(async () => {
        if ((await readAny(memory, where, name, { decrypt: false })) === null) {
          throw new MemoryError(`there is no memory '${name}' in ${where}`, MemoryErrorCode.NOT_FOUND)
        }
        await (options.forget ?? memory.delete.bind(memory))(where, name)
        return answer({ key: name, scope: where, forgotten: true })
      }),
  )
}
