import type { ContentBlock, Conversation, ConversationFacts, JsonValue, Message } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { compacted } from '../reading/compacted.ts'
import { toContentBlocks, toolName, toResultText, toToolInput } from '../reading/content-blocks.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { type CommandFrame, ranCommand } from '../reading/ran-command.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { createTitling } from '../reading/session-title.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'
import { identityIn, isOfHost } from './identity.ts'
import { readPromptParts } from './prompt-parts.ts'
import { sessionName } from './session-name.ts'
import { toToolBlock } from './tool-blocks.ts'

const lineTypes = new Set<unknown>([
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'compacted',
  'world_state',
])
const commandFrame: CommandFrame = [
  '<user_shell_command>\n<command>\n',
  '\n</command>\n<result>\n',
  '</result>\n</user_shell_command>',
]

/** Whether a JSON line can only come from a rollout of Codex. */
export function isRolloutLine(value: unknown): boolean {
  return isRecord(value) && lineTypes.has(value.type) && isRecord(value.payload)
}

/**
 * Reads a rollout (JSON Lines) of Codex. It holds prompts and results twice: they are read from `response_item` lines,
 * and the events only tell which commands failed.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the file cannot be opened
 */
export async function readRollout(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  const identity = await identityIn(path)
  const name = identity.parent === undefined ? await sessionName(path, identity.sessionId) : undefined
  return { ...identity, facts, messages: readMessages(path, facts, name) }
}

async function* readMessages(
  path: string,
  facts: ConversationFacts,
  name: string | undefined,
): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  const failed = new Set<string>()
  const isLeftOut = createCopiedLineFilter()
  const noteFirst = createTitling(facts, name)
  // Only the next line shows that a message was a summary.
  let last: Message[] = []
  for await (const value of linesIn(path, skip)) {
    const { payload } = value
    if (isLeftOut(value, payload)) continue
    if (typeof payload.cwd === 'string') facts.project ??= payload.cwd
    const failure = failedCall(value.type, payload)
    if (failure !== undefined) failed.add(failure)
    if (value.type === 'compacted') last = last.map((message) => withoutSummary(message, payload))
    if (value.type !== 'response_item') continue
    const said = readItem(payload, skip)
    if (said === null) continue
    // Later lines change what becomes of an item, but not its id.
    const message: Message = { id: idOf(said), ...said }
    if (message.role === 'user') noteFirst(message.content)
    yield* last
    last = (ranCommand(message, commandFrame) ?? [message]).map((part) => ({
      ...part,
      ...saidAt(value.timestamp),
      content: part.content.map((block) => toToolBlock(block, failed)),
    }))
  }
  yield* last
}

type RolloutLine = Record<string, unknown> & { payload: Record<string, unknown> }

const isLine = (value: unknown): value is RolloutLine => isRecord(value) && isRecord(value.payload)

async function* linesIn(path: string, skip: Skip): AsyncGenerator<RolloutLine, void> {
  for await (const { value } of readJsonLines(path, skip)) {
    if (isLine(value)) yield value
    else skip(skippedKinds.notAMessage)
  }
}

/**
 * Returns a function that tells which lines of a rollout are not its own: all if the host started the session for
 * itself, otherwise those copied from another session, which has a rollout of its own. Copied lines come before the
 * ordinal that the first line names, or are marked as inherited. Call it for all lines, in order.
 */
function createCopiedLineFilter(): (
  line: Record<string, unknown>,
  payload: Record<string, unknown>,
) => boolean {
  let begun: { isOfHost: boolean; firstOwn: number; hasParent: boolean } | undefined
  return ({ type, ordinal, metadata }, payload) => {
    if (begun === undefined) {
      if (type !== 'session_meta') return false
      const { subagent_history_start_ordinal: start, history_base, parent_thread_id } = payload
      begun = {
        isOfHost: isOfHost(payload),
        firstOwn: typeof start === 'number' ? start : 0,
        hasParent: isRecord(history_base) || nonEmptyText(parent_thread_id) !== undefined,
      }
      return begun.isOfHost
    }
    const isInherited = begun.hasParent && isRecord(metadata) && metadata.inherited_user_message === true
    return begun.isOfHost || isInherited || (typeof ordinal === 'number' && ordinal < begun.firstOwn)
  }
}

/** A compaction repeats the summary that the agent wrote just before it, after words of the host. */
function withoutSummary(message: Message, { message: told }: Record<string, unknown>): Message {
  const text = message.content
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('\n')
    .trim()
  const isSummary = message.role === 'assistant' && text !== '' && typeof told === 'string'
  return isSummary && told.trim().endsWith(text) ? { ...message, content: [compacted] } : message
}

/** The call that failed according to an event; versions differ in the event. */
function failedCall(lineType: unknown, event: Record<string, unknown>): string | undefined {
  if (lineType !== 'event_msg') return undefined
  const { type, call_id: id, exit_code: code, item } = event
  if (type === 'item_completed' && isRecord(item)) {
    return item.status === 'failed' || item.status === 'declined' ? nonEmptyText(item.id) : undefined
  }
  return type === 'exec_command_end' && typeof code === 'number' && code !== 0 ? nonEmptyText(id) : undefined
}

type Said = Pick<Message, 'role' | 'content'>

function readItem(payload: Record<string, unknown>, skip: Skip): Said | null {
  if (payload.type === 'message' && payload.role === 'user') return readPrompt(payload, skip)
  const content = toContent(payload, skip)
  return content.length === 0 ? null : { role: 'assistant', content }
}

/** A person's message. What the host said in the person's place is output. */
function readPrompt(payload: Record<string, unknown>, skip: Skip): Said | null {
  const { typed, saidByHost } = readPromptParts(payload, skip)
  if (typed.length > 0) return { role: 'user', content: typed }
  if (saidByHost === '') return null
  return { role: 'assistant', content: [outputBlock(saidByHost)] }
}

function toContent(payload: Record<string, unknown>, skip: Skip): ContentBlock[] {
  const id = typeof payload.call_id === 'string' ? payload.call_id : ''
  switch (payload.type) {
    case 'message':
      return payload.role === 'assistant' ? toContentBlocks(payload.content, skip) : []
    case 'function_call':
    case 'custom_tool_call':
      return [
        {
          type: 'tool_use',
          id,
          name: toolName(payload.name),
          input: toToolInput(payload.arguments ?? payload.input),
        },
      ]
    case 'local_shell_call':
      return [{ type: 'tool_use', id, name: 'shell', input: (payload.action ?? null) as JsonValue }]
    case 'web_search_call':
      return [{ type: 'tool_use', id, name: 'web_search', input: (payload.action ?? null) as JsonValue }]
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ type: 'tool_result', toolUseId: id, content: toResultText(payload.output) }]
    default:
      return []
  }
}
