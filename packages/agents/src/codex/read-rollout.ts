import { basename } from 'node:path'
import type { ContentBlock, Conversation, ConversationFacts, JsonValue, Message } from '@recall/core'
import { isRecord, toContentBlocks, toolName, toResultText, toToolInput } from '../reading/content-blocks.ts'
import { toInstant } from '../reading/instants.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { type CommandFrame, ranCommand } from '../reading/ran-command.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'
import { toToolBlock } from './tool-blocks.ts'

const lineTypes = new Set([
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'compacted',
  'world_state',
])
const headLines = 50
/** Text that the host inserts into the first user messages; nobody typed it. */
const injected =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skill)\b|# AGENTS\.md instructions)/

/** Kinds of parts that the host itself puts into a message. */
const madeByHost =
  /^(?:agents_md|environments|hooks|host_skills|permissions|skills?|subagents?|multi_agent)\./
const commandFrame: CommandFrame = [
  '<user_shell_command>\n<command>\n',
  '\n</command>\n<result>\n',
  '</result>\n</user_shell_command>',
]

/** Whether a JSON line can only come from a rollout of Codex. */
export function isRolloutLine(value: unknown): boolean {
  return (
    isRecord(value) && typeof value.type === 'string' && lineTypes.has(value.type) && isRecord(value.payload)
  )
}

/**
 * Reads a rollout (JSON Lines) of Codex. It holds prompts and results twice: they are read from `response_item` lines,
 * and from the events only which commands failed.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the file cannot be opened
 */
export async function readRollout(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  const identity = (await identityIn(path)) ?? { sessionId: idInName(path) }
  return { ...identity, facts, messages: readMessages(path, facts) }
}

type Identity = Pick<Conversation, 'sessionId' | 'parent'>

/** The first `session_meta` line counts: further ones were copied from the session that this one continues. */
async function identityIn(path: string): Promise<Identity | undefined> {
  let looked = 0
  for await (const { value } of readJsonLines(path, () => {})) {
    if (isRecord(value) && value.type === 'session_meta' && isRecord(value.payload)) {
      const identity = identityOf(value.payload)
      if (identity !== undefined) return identity
    }
    if (++looked >= headLines) break
  }
  return undefined
}

/**
 * A helper's own id is `id`. What started it is named in different members, depending on the version; `session_id` is
 * the session of a person above all helpers, and its own id in a session that is no helper's.
 */
function identityOf({
  id,
  session_id,
  parent_thread_id,
  source,
}: Record<string, unknown>): Identity | undefined {
  const own = textOf(id) ?? textOf(session_id)
  const helper = isRecord(source) && 'subagent' in source ? source.subagent : undefined
  if (own === undefined || helper === undefined) return own === undefined ? undefined : { sessionId: own }
  const spawn = isRecord(helper) && isRecord(helper.thread_spawn) ? helper.thread_spawn : {}
  const starter = textOf(parent_thread_id) ?? textOf(spawn.parent_thread_id)
  const above = [textOf(session_id), starter].filter((each) => each !== undefined && each !== own)
  const parent = [...new Set(above)].join('/') || 'unknown'
  return { sessionId: `${parent}/${own}`, parent }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** `rollout-2026-11-20T09-00-00-<uuid>.jsonl` */
function idInName(path: string): string {
  const name = basename(path).replace(/\.jsonl$/, '')
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name
}

async function* readMessages(path: string, facts: ConversationFacts): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  const searchIdOf = createMessageIds()
  const failed = new Set<string>()
  for await (const { value } of readJsonLines(path, skip)) {
    if (!isRecord(value) || !isRecord(value.payload)) {
      skip(skippedKinds.notAMessage)
      continue
    }
    const { payload } = value
    if (typeof payload.cwd === 'string') facts.project ??= payload.cwd
    const failure = value.type === 'event_msg' ? failedCall(payload) : undefined
    if (failure !== undefined) failed.add(failure)
    if (value.type !== 'response_item') continue
    const message = toMessage(payload, skip)
    if (message === null) continue
    const at = toInstant(value.timestamp)
    // Ids are made of what earlier versions read too, without searches, so that sessions are known again.
    const id = payload.type === 'web_search_call' ? searchIdOf(message) : idOf(message)
    for (const part of ranCommand({ id, ...message }, commandFrame) ?? [{ id, ...message }]) {
      const content = part.content.map((block) => toToolBlock(block, failed))
      yield { ...part, content, ...(at === undefined ? {} : { at }) }
    }
  }
}

/** The call that an event says has failed; versions differ in the event. */
function failedCall(event: Record<string, unknown>): string | undefined {
  const { type, call_id: id, exit_code: code, item } = event
  if (type === 'item_completed' && isRecord(item)) {
    return item.status === 'failed' ? textOf(item.id) : undefined
  }
  return type === 'exec_command_end' && typeof code === 'number' && code !== 0 ? textOf(id) : undefined
}

function toMessage(payload: Record<string, unknown>, skip: Skip): Pick<Message, 'role' | 'content'> | null {
  const content = toContent(payload, skip)
  if (content.length === 0) return null
  return { role: payload.type === 'message' && payload.role === 'user' ? 'user' : 'assistant', content }
}

function toContent(payload: Record<string, unknown>, skip: Skip): ContentBlock[] {
  const id = typeof payload.call_id === 'string' ? payload.call_id : ''
  switch (payload.type) {
    case 'message': {
      if (payload.role === 'user') return toContentBlocks(typedIn(payload), skip)
      return payload.role === 'assistant' ? toContentBlocks(payload.content, skip) : []
    }
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

/** The content of a user's message without what the host put into it; newer versions name the kind of each part. */
function typedIn({ content, internal_chat_message_metadata_passthrough: about }: Record<string, unknown>) {
  const kinds = isRecord(about) && Array.isArray(about.content_item_kinds) ? about.content_item_kinds : []
  const parts: unknown[] = Array.isArray(content) ? content : typeof content === 'string' ? [content] : []
  return parts.filter((part, index) => isTyped(part, String(kinds[index] ?? '')))
}

function isTyped(part: unknown, kind: string): boolean {
  if (kind.startsWith('user.')) return true
  const text = isRecord(part) ? part.text : part
  return !madeByHost.test(kind) && !(typeof text === 'string' && injected.test(text))
}
