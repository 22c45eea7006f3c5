import type { McpServer } from '@modelcontextprotocol/server'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { beginningOf } from '@recall/core/text'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answerFrom, orFailure, Recalled } from './answer.ts'
import { key, readAny, scope, wholeText } from './stored-memory.ts'

/** Longest piece that is read at once, in characters. */
const pieceLength = 12_000

export function addRead(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'memory_read',
    {
      title: 'Read a memory',
      description: `Returns one whole memory, by the key and scope that memory_search gave, in pieces of ${pieceLength} characters.`,
      inputSchema: z.strictObject({ key, scope, offset: z.number().int().min(0).default(0) }),
      outputSchema: z.object({
        key: z.string(),
        scope,
        recorded: z.string().describe('when this text was written, not the first one under its key'),
        text: z.string(),
        length: z.number().describe('characters in total'),
        nextOffset: z.number().optional().describe('absent at the end'),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ key: name, scope: where, offset }) =>
      orFailure(async () => {
        const record = await readAny(memory, where, name)
        if (record === null) {
          throw new MemoryError(`there is no memory '${name}' in ${where}`, MemoryErrorCode.NOT_FOUND)
        }
        const whole = wholeText(record)
        if (offset > whole.length) {
          throw new MemoryError(
            `offset ${offset} is past the end, ${whole.length}`,
            MemoryErrorCode.INVALID_INPUT,
          )
        }
        const start = beginningAt(whole, offset)
        const piece = beginningOf(whole.slice(start), pieceLength)
        const next = start + piece.length
        return answerFrom(name, {
          key: name,
          scope: where,
          recorded: new Date(record.metadata.updatedAt).toISOString(),
          text: new Recalled(piece, name),
          length: whole.length,
          ...(next < whole.length ? { nextOffset: next } : {}),
        })
      }),
  )
}

/** The start of the character that an offset may fall into the middle of. */
const beginningAt = (text: string, offset: number): number =>
  /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(Math.max(0, offset - 1), offset + 1))
    ? offset - 1
    : offset
