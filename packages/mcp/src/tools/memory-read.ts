import type { McpServer } from '@modelcontextprotocol/server'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answerFrom, orFailure, Recalled } from './answer.ts'
import { offsetSchema, pieceAt, pieceLength, pieceShape } from './pieces.ts'
import { key, readAny, scope, wholeText } from './stored-memory.ts'

export function addRead(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'memory_read',
    {
      title: 'Read a memory',
      description: `Returns one whole memory, by the key and scope that memory_search gave, in pieces of ${pieceLength} characters.`,
      inputSchema: z.strictObject({ key, scope, offset: offsetSchema }),
      outputSchema: z.object({
        key: z.string(),
        scope,
        recorded: z.string().describe('when this text was written, not the first one under its key'),
        text: z.string(),
        ...pieceShape,
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ key: name, scope: where, offset }) =>
      orFailure(async () => {
        const record = await readAny(memory, where, name)
        if (record === null) {
          throw new MemoryError(`there is no memory '${name}' in ${where}`, MemoryErrorCode.NOT_FOUND)
        }
        const { piece, place } = pieceAt(wholeText(record), offset)
        return answerFrom(name, {
          key: name,
          scope: where,
          recorded: new Date(record.metadata.updatedAt).toISOString(),
          text: new Recalled(piece, name),
          ...place,
        })
      }),
  )
}
