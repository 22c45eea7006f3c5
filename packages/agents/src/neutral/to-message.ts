import type { ContentBlock, Message } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { toContentBlocks, toResultText, toToolInput } from '../reading/content-blocks.ts'
import { saidAt } from '../reading/messages.ts'
import type { Skip } from '../reading/skipped.ts'

const roles = new Map<string, Message['role'] | 'tool'>([
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['agent', 'assistant'],
  ['model', 'assistant'],
  ['bot', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
])

/** Whether a JSON value has the shape `{ role, content }` with a role known from conversations. */
export function isNeutralMessage(value: unknown): value is Record<string, unknown> {
  return (
    isRecord(value) &&
    typeof value.role === 'string' &&
    ('content' in value || 'tool_calls' in value) &&
    (roles.has(value.role.toLowerCase()) || value.role === 'system' || value.role === 'developer')
  )
}

/**
 * The messages in one `{ role, content }` object: none for a system prompt, two when a user message also
 * carries tool results.
 */
export function toMessages(value: Record<string, unknown>, fallbackId: string, skip: Skip): Message[] {
  const role = roles.get(String(value.role).toLowerCase())
  if (role === undefined) return []
  const id = nonEmptyText(value.id) ?? fallbackId
  const at = saidAt(value.at ?? value.timestamp ?? value.created_at)
  const message = (messageId: string, messageRole: Message['role'], content: ContentBlock[]): Message => ({
    id: messageId,
    role: messageRole,
    content,
    ...at,
  })

  if (role === 'tool') {
    const toolUseId = typeof value.tool_call_id === 'string' ? value.tool_call_id : ''
    return [
      message(id, 'assistant', [{ type: 'tool_result', toolUseId, content: toResultText(value.content) }]),
    ]
  }
  const blocks = [...toContentBlocks(value.content, skip), ...toToolUses(value.tool_calls)]
  if (role === 'assistant') return blocks.length > 0 ? [message(id, role, blocks)] : []

  const said = blocks.filter((block) => block.type === 'text')
  const rest = blocks.filter((block) => block.type !== 'text')
  return [
    ...(rest.length > 0 ? [message(id, 'assistant', rest)] : []),
    ...(said.length > 0 ? [message(rest.length > 0 ? `${id}#said` : id, 'user', said)] : []),
  ]
}

function toToolUses(calls: unknown): ContentBlock[] {
  if (!Array.isArray(calls)) return []
  return calls.flatMap((call): ContentBlock[] => {
    const called = isRecord(call) && isRecord(call.function) ? call.function : null
    if (called === null || typeof called.name !== 'string') return []
    const id = isRecord(call) && typeof call.id === 'string' ? call.id : ''
    return [{ type: 'tool_use', id, name: called.name, input: toToolInput(called.arguments) }]
  })
}
