import { basename, dirname } from 'node:path'
import type { ContentBlock, Conversation, ConversationFacts, JsonValue, Message } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { toContentBlocks, toolName, toResultText } from '../reading/content-blocks.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { firstValue, readJsonLines } from '../reading/read-json-lines.ts'
import { createTitling } from '../reading/session-title.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'
import { withPastedText } from './pasted-text.ts'
import { type SessionName, sessionName } from './session-name.ts'

type Event = Record<string, unknown> & { type: string; data: Record<string, unknown> }

/** Events in which nothing is said: actions of hooks, permissions and models. */
const silent =
  /^(?:hook|permission|system|model|subagent|abort|mcp|skill|session|tool_search|external_tool)\b/

/** Whether a JSON line can only come from the events of a Copilot session. */
export function isCopilotEvent(value: unknown): value is Event {
  return (
    isRecord(value) &&
    typeof value.type === 'string' &&
    /^(?:session|user|assistant|tool)\.\w+$/.test(value.type) &&
    isRecord(value.data)
  )
}

/** Reads the events of a session; its folder is named after it. */
export async function readCopilotEvents(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  const first = await firstValue(path)
  const sessionId =
    (isCopilotEvent(first) ? nonEmptyText(first.data.sessionId) : undefined) ??
    (basename(path) === 'events.jsonl' ? basename(dirname(path)) : basename(path, '.jsonl'))
  return { sessionId, facts, messages: readMessages(path, facts, await sessionName(path)) }
}

async function* readMessages(
  path: string,
  facts: ConversationFacts,
  name: SessionName | undefined,
): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  const noteFirst = createTitling(facts, name?.text, name?.isChosen)
  for await (const { value } of readJsonLines(path, skip)) {
    if (!isCopilotEvent(value)) {
      if (!isSilent(value)) skip(skippedKinds.notAMessage)
      continue
    }
    const { context } = value.data
    if (isRecord(context) && typeof context.cwd === 'string') facts.project ??= context.cwd
    const content = toContent(await withWholePrompt(value, path, skip), skip)
    if (content.length === 0) continue
    if (isOfPerson(value)) noteFirst(content)
    yield {
      id: nonEmptyText(value.id) ?? idOf([value.type, value.data]),
      role: isOfPerson(value) ? 'user' : 'assistant',
      content,
      ...saidAt(value.timestamp),
    }
  }
}

const isSilent = (value: unknown): boolean =>
  isRecord(value) && typeof value.type === 'string' && silent.test(value.type) && isRecord(value.data)

/** A helper's events are among those of its session; the agent wrote its prompt. */
const isOfPerson = (event: Event): boolean =>
  event.type === 'tool.user_requested' ||
  (event.type === 'user.message' && !isOfHelper(event) && !isOfHost(event))

const isOfHelper = ({ agentId }: Event): boolean => typeof agentId === 'string'

/**
 * What is said in a person's place: the text of a skill, an order that the agent should continue by itself, or what
 * another agent says to the session's.
 */
function isOfHost(event: Event): boolean {
  const { source, isAutopilotContinuation } = event.data
  if (isAutopilotContinuation === true) return true
  if (typeof source !== 'string') return false
  return (
    /^(?:skill-|autopilot|jit-instruction|system$)/.test(source) ||
    (source.startsWith('agent-') && !isOfHelper(event))
  )
}

async function withWholePrompt(event: Event, path: string, skip: Skip): Promise<Event> {
  const { content } = event.data
  if (!isOfPerson(event) || typeof content !== 'string') return event
  return { ...event, data: { content: await withPastedText(content, path, skip) } }
}

function toContent(event: Event, skip: Skip): ContentBlock[] {
  const { type, data } = event
  const id = typeof data.toolCallId === 'string' ? data.toolCallId : ''
  switch (type) {
    case 'user.message':
      if (!isOfHost(event)) return toContentBlocks(data.content, skip)
      return [outputBlock(toResultText(data.content))]
    case 'assistant.message':
      return toContentBlocks(data.content, skip)
    case 'tool.user_requested': {
      const { command } = isRecord(data.arguments) ? data.arguments : {}
      return typeof command === 'string' ? [{ type: 'text', text: `! ${command}` }] : []
    }
    case 'tool.execution_start': {
      const input = (data.arguments ?? null) as JsonValue
      return [{ type: 'tool_use', id, name: toolName(data.toolName), input }]
    }
    case 'tool.execution_complete': {
      const failed = data.success === false ? { isError: true } : {}
      return [{ type: 'tool_result', toolUseId: id, content: outputOf(data), ...failed }]
    }
    default:
      return []
  }
}

/** The output of a tool; for a failed one, its error. */
function outputOf({ result, error }: Record<string, unknown>): string {
  if (isRecord(result) && typeof result.content === 'string') return result.content
  const message = isRecord(error) && typeof error.message === 'string' ? error.message : error
  return toResultText(result ?? message)
}
