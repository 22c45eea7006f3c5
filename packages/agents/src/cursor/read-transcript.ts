import { basename } from 'node:path'
import type { Conversation, ConversationFacts, Message } from '@recall/core'
import { toMessages } from '../neutral/to-message.ts'
import { isRecord } from '../reading/content-blocks.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { countInto, skippedKinds } from '../reading/skipped.ts'

/** Whether a JSON line can only come from a transcript of Cursor: a role beside a message, and no `type`. */
export function isCursorLine(value: unknown): value is { role: string; message: { content: unknown } } {
  return (
    isRecord(value) &&
    (value.role === 'user' || value.role === 'assistant') &&
    isRecord(value.message) &&
    'content' in value.message &&
    !('type' in value)
  )
}

/** Reads a transcript (JSON Lines). It has no times; the file is named after the session. */
export async function readCursorTranscript(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  return { sessionId: basename(path, '.jsonl'), facts, messages: readMessages(path, facts) }
}

async function* readMessages(path: string, facts: ConversationFacts): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  for await (const { value } of readJsonLines(path, skip)) {
    if (isCursorLine(value)) {
      const said = { role: value.role, content: value.message.content }
      yield* toMessages(said, idOf(said), skip)
    } else skip(skippedKinds.notAMessage)
  }
}
