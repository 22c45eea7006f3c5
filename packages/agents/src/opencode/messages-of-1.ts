import type { ContentBlock, JsonValue, Message } from '@recall/core'
import { isRecord } from '../json.ts'
import { compacted } from '../reading/compacted.ts'
import { toolName } from '../reading/content-blocks.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { commandOf } from '../reading/ran-command.ts'
import { type Skip, skippedKinds } from '../reading/skipped.ts'
import type { Query, Row } from '../reading/sqlite-snapshot.ts'
import { objectIn, toAttachment } from './values.ts'

/** The host's words for the model in a message of the person, before the answer that holds a command they ran. */
const commandNotice = 'The following tool was executed by the user'

/** The messages of a session of OpenCode 1, which are stored in parts. */
export const messagesOf1 = (query: Query, sessionId: string, skip: Skip): Message[] =>
  query('SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id', sessionId).flatMap(
    createMessageReader(query, skip),
  )

/** Reads a session's messages, one after the other. */
function createMessageReader(query: Query, skip: Skip): (row: Row) => Message[] {
  const notices = new Set<unknown>()
  return (row) => {
    const data = objectIn(row.data)
    if (data.role !== 'user' && data.role !== 'assistant') {
      skip(skippedKinds.notAMessage)
      return []
    }
    const parts = query('SELECT * FROM part WHERE message_id = ? ORDER BY id', String(row.id)).map((part) =>
      objectIn(part.data),
    )
    if (parts.some(({ text, synthetic }) => synthetic === true && text === commandNotice)) notices.add(row.id)
    const blocks = parts.flatMap((part) => toBlocks(part, skip))
    if (blocks.length === 0) return []
    const message: Message = {
      id: String(row.id),
      ...saidIn(data.role, data.summary === true ? [compacted] : blocks),
      ...saidAt(row.time_created),
    }
    const ran = notices.has(data.parentID) ? ranIn(parts) : undefined
    return ran === undefined ? [message] : commandOf(message, ran.command, ran.output)
  }
}

/** What a person typed, and nothing else; a message of theirs in which nothing was typed is output. */
function saidIn(role: Message['role'], content: readonly ContentBlock[]): Pick<Message, 'role' | 'content'> {
  const typed = content.filter(({ type }) => type === 'text')
  if (role === 'user' && typed.length > 0) return { role, content: typed }
  return { role: 'assistant', content: [...content] }
}

/** The command that a person ran: nothing else is in its message, while an answer of the agent has more parts. */
function ranIn(parts: readonly Record<string, unknown>[]): { command: string; output: string } | undefined {
  const [state, ...others] = parts.map((part) => part.state)
  if (!isRecord(state) || !isRecord(state.input) || others.length > 0) return undefined
  const { command } = state.input
  if (typeof command !== 'string') return undefined
  return { command, output: typeof state.output === 'string' ? state.output : '' }
}

function toBlocks(part: Record<string, unknown>, skip: Skip): ContentBlock[] {
  if (typeof part.type !== 'string') {
    skip(skippedKinds.unknownBlock)
    return []
  }
  // Synthetic texts were inserted by the host.
  if (part.type === 'text' && typeof part.text === 'string' && part.synthetic !== true) {
    if (part.text.trim() === '') return []
    // What a plugin shows the person is not part of what is said to the agent.
    if (part.ignored === true) return [outputBlock(part.text)]
    return [{ type: 'text', text: part.text }]
  }
  // A slash command that a helper works on. The text typed after it is only in the words for the helper.
  if (part.type === 'subtask' && typeof part.command === 'string')
    return [{ type: 'text', text: `/${part.command}` }]
  if (part.type === 'file') return toAttachment(part.mime, skip)
  if (part.type !== 'tool') return []
  const state = isRecord(part.state) ? part.state : {}
  const id = typeof part.callID === 'string' ? part.callID : ''
  const output = state.output ?? state.error
  return [
    { type: 'tool_use', id, name: toolName(part.tool), input: (state.input ?? null) as JsonValue },
    ...(typeof output === 'string'
      ? [
          {
            type: 'tool_result' as const,
            toolUseId: id,
            content: output,
            ...(state.error ? { isError: true } : {}),
          },
        ]
      : []),
  ]
}
