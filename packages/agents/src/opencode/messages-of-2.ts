import type { ContentBlock, Message } from '@recall/core'
import { isRecord } from '../json.ts'
import { compacted } from '../reading/compacted.ts'
import { toContentBlocks, toolName, toResultText, toToolInput } from '../reading/content-blocks.ts'
import { saidAt } from '../reading/messages.ts'
import { commandOf } from '../reading/ran-command.ts'
import { type Skip, skippedKinds } from '../reading/skipped.ts'
import type { Query, Row } from '../reading/sqlite-snapshot.ts'
import { objectIn, toAttachment } from './values.ts'

/** What the host says to the model, and its notes about the session. */
const ofHost = new Set<unknown>([
  'synthetic',
  'system',
  'skill',
  'agent-switched',
  'model-switched',
  'location-switched',
  'idle',
])

/** The messages of a session of OpenCode 2, each with a type that names its author. */
export const messagesOf2 = (query: Query, sessionId: string, skip: Skip): Message[] =>
  query('SELECT * FROM session_message WHERE session_id = ? ORDER BY seq, id', sessionId).flatMap((row) =>
    readMessage(row, skip),
  )

function readMessage(row: Row, skip: Skip): Message[] {
  const data = objectIn(row.data)
  const message = (role: Message['role'], content: ContentBlock[]): Message => ({
    id: String(row.id),
    role,
    content,
    ...saidAt(row.time_created),
  })
  switch (row.type) {
    case 'user':
      return [message('user', typedBlocks(data, skip))].filter(saysSomething)
    case 'assistant':
      return [message('assistant', answerIn(data, skip))].filter(saysSomething)
    case 'shell':
      if (typeof data.command !== 'string') break
      return commandOf(message('user', []), data.command, outputIn(data.output))
    case 'compaction':
      return data.status === 'completed' ? [message('assistant', [compacted])] : []
    default:
      if (ofHost.has(row.type)) return []
  }
  skip(skippedKinds.notAMessage)
  return []
}

const saysSomething = ({ content }: Message): boolean => content.length > 0

/** What a command printed; early versions keep only the text. */
function outputIn(printed: unknown): string {
  const output = isRecord(printed) ? printed.output : printed
  return typeof output === 'string' ? output : ''
}

function typedBlocks({ text, files }: Record<string, unknown>, skip: Skip): ContentBlock[] {
  const attached = Array.isArray(files) ? files : []
  return [
    ...toContentBlocks(text, skip),
    ...attached.flatMap((file) => toAttachment(isRecord(file) ? file.mime : undefined, skip)),
  ]
}

function answerIn({ content }: Record<string, unknown>, skip: Skip): ContentBlock[] {
  if (Array.isArray(content)) return content.flatMap((part) => toBlocks(isRecord(part) ? part : {}, skip))
  skip(skippedKinds.unknownBlock)
  return []
}

function toBlocks(part: Record<string, unknown>, skip: Skip): ContentBlock[] {
  if (part.type === 'reasoning') return []
  if (part.type !== 'tool') return toContentBlocks([part], skip)
  const state = isRecord(part.state) ? part.state : {}
  const id = typeof part.id === 'string' ? part.id : ''
  const failure = isRecord(state.error) ? state.error.message : undefined
  const output = failure ?? state.content
  return [
    { type: 'tool_use', id, name: toolName(part.name), input: toToolInput(state.input) },
    ...(output === undefined
      ? []
      : [
          {
            type: 'tool_result' as const,
            toolUseId: id,
            content: toResultText(output),
            ...(failure === undefined ? {} : { isError: true }),
          },
        ]),
  ]
}
