import { basename, dirname } from 'node:path'
import type { ContentBlock, Conversation, ConversationFacts, Message } from '@recall/core'
import { isRecord } from '../json.ts'
import { toMessages } from '../neutral/to-message.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { saidAt } from '../reading/messages.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { countInto, skippedKinds } from '../reading/skipped.ts'
import { helpersFolder } from './list-helpers.ts'

/** Whether a JSON line can only come from a transcript of Cursor: a role next to a message, and no `type`. */
export function isCursorLine(value: unknown): value is { role: string; message: { content: unknown } } {
  return (
    isRecord(value) &&
    (value.role === 'user' || value.role === 'assistant') &&
    isRecord(value.message) &&
    'content' in value.message &&
    !('type' in value)
  )
}

/** Reads a transcript (JSON Lines). Only prompts have a time; the file is named after the session, or the helper. */
export async function readCursorTranscript(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  return { ...identityOf(path), facts, messages: readMessages(path, facts) }
}

function identityOf(path: string): Pick<Conversation, 'sessionId' | 'parent'> {
  const id = basename(path, '.jsonl')
  if (basename(dirname(path)) !== helpersFolder) return { sessionId: id }
  const parent = basename(dirname(dirname(path)))
  return { sessionId: `${parent}/${id}`, parent }
}

async function* readMessages(path: string, facts: ConversationFacts): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const idOf = createMessageIds()
  for await (const { value } of readJsonLines(path, skip)) {
    if (isCursorLine(value)) {
      const said = { role: value.role, content: value.message.content }
      for (const message of toMessages(said, idOf(said), skip)) yield* withoutMarkup(message)
    } else if (!isTurnEnd(value)) skip(skippedKinds.notAMessage)
  }
}

/** The host notes how each turn ended. */
const isTurnEnd = (value: unknown): boolean => isRecord(value) && value.type === 'turn_ended'

/** What the person typed is between these marks; the host's text for the model is around them. */
const opening = /(?:^|\n)<user_query>/
const closing = '</user_query>'
/** `Friday, Sep 4, 2026, 2:21 AM (UTC+8)`: without the offset from UTC it could be any hour. */
const sentAt = /^<timestamp>([^<\n]*) \((UTC[^)\n]*)\)<\/timestamp>/
/** Stands in place of thoughts, and also after an answer. */
const hiddenThoughts = '[REDACTED]'

/** The message as it was said; none if nothing in it was said. */
function withoutMarkup(message: Message): Message[] {
  const texts = message.content.map((block) => (block.type === 'text' ? block.text : ''))
  const [, time, zone] = texts.map((text) => sentAt.exec(text)).find((match) => match !== null) ?? []
  const at = saidAt(time === undefined ? undefined : `${time} ${zone}`)
  const content = message.content.flatMap((block): ContentBlock[] => {
    if (block.type !== 'text') return [block]
    const text = message.role === 'user' ? typed(block.text) : answered(block.text)
    return text.trim() === '' ? [] : [{ type: 'text', text }]
  })
  return content.length === 0 ? [] : [{ ...message, content, ...at }]
}

function typed(text: string): string {
  const begin = opening.exec(text)
  if (begin === null) return text
  const start = begin.index + begin[0].length
  // The last one: a person may have typed another.
  const end = text.lastIndexOf(closing)
  return end < start ? text : text.slice(start, end).trim()
}

function answered(text: string): string {
  const said = text.trimEnd()
  return said.endsWith(hiddenThoughts) ? said.slice(0, -hiddenThoughts.length).trimEnd() : text
}
