import {
  type ConversationFacts,
  conversationKey,
  type Message,
  redactJson,
  sessionSummaryKey,
} from '@recall/core'
import { isRecord } from '../json.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { countInto, skippedKinds } from '../reading/skipped.ts'
import { isNeutralMessage, toMessages } from './to-message.ts'

/** The messages of a JSON Lines file, streamed. */
export async function* readJsonLineMessages(
  path: string,
  facts: ConversationFacts,
): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  for await (const { value } of readJsonLines(path, skip)) {
    if (isNeutralMessage(value)) yield* toMessages(value, idOf(value), skip)
    else if (sessionIdOf(value) === undefined) skip(skippedKinds.notAMessage)
    noteFacts(value, facts)
  }
}

/** The messages of a parsed JSON document. */
export function* documentMessages(
  document: JsonDocument,
  facts: ConversationFacts,
): Generator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  for (const value of document.messages) {
    if (isNeutralMessage(value)) yield* toMessages(value, idOf(value), skip)
    else skip(skippedKinds.notAMessage)
  }
}

export interface JsonDocument {
  messages: unknown[]
  sessionId?: string
  facts: Pick<ConversationFacts, 'title' | 'project'>
}

/** Takes a value that is one list of messages, or one object with `messages`; `null` for any other. */
export function toJsonDocument(value: unknown): JsonDocument | null {
  const messages = isRecord(value) ? value.messages : value
  if (!Array.isArray(messages) || !messages.some(isNeutralMessage)) return null
  const facts: Pick<ConversationFacts, 'title' | 'project'> = {}
  noteFacts(value, facts)
  return { messages, sessionId: sessionIdOf(value), facts }
}

/**
 * Longer ids, and those with control characters or a secret, cannot be keys: a session with such an id is named by its
 * file.
 */
const longestId = 900

export function sessionIdOf(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const id = value.session_id ?? value.sessionId ?? value.conversation_id
  const text = typeof id === 'string' ? id.trim() : ''
  const isFit = text !== '' && text.length <= longestId && text.isWellFormed() && !/\p{Cc}/u.test(text)
  return isFit && !holdsSecret(text) ? text : undefined
}

/** As a memory judges keys: an id that only looks random is not a secret. */
const holdsSecret = (id: string): boolean =>
  Object.keys(redactJson({ ids: [conversationKey(id), sessionSummaryKey(id)] }).counts).length > 0

function noteFacts(value: unknown, facts: Pick<ConversationFacts, 'title' | 'project'>): void {
  if (!isRecord(value)) return
  const project = value.project ?? value.cwd
  if (typeof value.title === 'string') facts.title ??= value.title
  if (typeof project === 'string') facts.project ??= project
}
