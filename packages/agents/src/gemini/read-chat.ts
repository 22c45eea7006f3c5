import { basename } from 'node:path'
import type { ContentBlock, Conversation, ConversationFacts, JsonValue, Message } from '@recall/core'
import { isRecord, toolName, toResultText } from '../content-blocks.ts'
import { toInstant } from '../instants.ts'
import { createMessageIds } from '../message-ids.ts'
import { readJsonLines } from '../read-json-lines.ts'
import { countInto, skippedKinds } from '../skipped.ts'

/** Whether a JSON line can only come from a chat of Gemini CLI. */
export function isChatLine(value: unknown): boolean {
  return isChatMessage(value) && value.type === 'gemini'
}

/** Whether a JSON document is a chat of Gemini CLI. */
export function isChatDocument(value: unknown): value is ChatDocument {
  return (
    isRecord(value) &&
    typeof value.sessionId === 'string' &&
    Array.isArray(value.messages) &&
    value.messages.some(isChatMessage)
  )
}

interface ChatDocument {
  sessionId: string
  messages: unknown[]
}

type ChatMessage = Record<string, unknown> & { type: string }

function isChatMessage(value: unknown): value is ChatMessage {
  return isRecord(value) && typeof value.type === 'string' && 'content' in value && !('uuid' in value)
}

/** Reads a chat that is one message on each line. */
export async function readChatLines(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  let sessionId = basename(path).replace(/\.jsonl?$/, '')
  for await (const { value } of readJsonLines(path, () => {})) {
    if (isRecord(value) && typeof value.sessionId === 'string') sessionId = value.sessionId
    break
  }
  return { sessionId, facts, messages: linesOf(path, facts) }
}

/** Takes a chat out of a document that was read already. */
export function readChatDocument({ sessionId, messages }: ChatDocument): Conversation {
  const facts: ConversationFacts = { skipped: {} }
  return { sessionId, facts, messages: documentOf(messages, facts) }
}

async function* linesOf(path: string, facts: ConversationFacts): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  for await (const { value } of readJsonLines(path, skip)) {
    if (isChatMessage(value)) yield* toMessages(value, idOf([value.type, value.content]))
    // The first line names the session; others control what is shown.
    else if (!isRecord(value)) skip(skippedKinds.notAMessage)
  }
}

function* documentOf(messages: readonly unknown[], facts: ConversationFacts): Generator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  for (const value of messages) {
    if (isChatMessage(value)) yield* toMessages(value, idOf([value.type, value.content]))
    else skip(skippedKinds.notAMessage)
  }
}

function* toMessages(message: ChatMessage, fallbackId: string): Generator<Message, void> {
  // Notices and errors of the host are neither side's words.
  if (message.type !== 'user' && message.type !== 'gemini') return
  const text = textOf(message.content)
  const content: ContentBlock[] = [
    ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
    ...(Array.isArray(message.toolCalls) ? message.toolCalls.filter(isRecord).flatMap(toTool) : []),
  ]
  if (content.length === 0) return
  const at = toInstant(message.timestamp)
  yield {
    id: typeof message.id === 'string' && message.id !== '' ? message.id : fallbackId,
    role: message.type === 'user' ? 'user' : 'assistant',
    content,
    ...(at === undefined ? {} : { at }),
  }
}

function toTool(call: Record<string, unknown>): ContentBlock[] {
  const id = typeof call.id === 'string' ? call.id : ''
  const result = call.resultDisplay ?? call.result
  return [
    { type: 'tool_use', id, name: toolName(call.name), input: (call.args ?? null) as JsonValue },
    ...(result === undefined
      ? []
      : [{ type: 'tool_result' as const, toolUseId: id, content: toResultText(result) }]),
  ]
}

/** A text, or parts of which some are texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : [content]
  return parts
    .map((part) =>
      typeof part === 'string' ? part : isRecord(part) && typeof part.text === 'string' ? part.text : '',
    )
    .filter((text) => text !== '')
    .join('\n')
}
