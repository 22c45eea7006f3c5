import type { ContentBlock, Message } from '@recall/core'
import { isAttachmentMark, toContentBlocks } from '../reading/content-blocks.ts'
import { toInstant } from '../reading/instants.ts'
import { type Skip, skippedKinds } from '../reading/skipped.ts'
import { type QueuedPrompts, queuedCommandContent } from './queued-prompts.ts'
import { separateMarkup } from './separate-markup.ts'
import type { TranscriptLine } from './transcript-line.ts'

export interface LineContext {
  /** Id of the messages of a line without a `uuid`. */
  fallbackId: string
  /** Whether the transcript is a helper's, whose user lines are the prompts that it was given. */
  isHelper: boolean
  queue: QueuedPrompts
  skip: Skip
}

/**
 * The messages in one transcript line. Most `user` lines are tool results: those become blocks of the assistant's
 * role. A line with both tool results and typed text yields one message for each role.
 */
export function toMessages(line: TranscriptLine, context: LineContext): Message[] {
  switch (line.type) {
    case 'assistant': {
      if (line.message === undefined) return skipped(context)
      const blocks = toContentBlocks(line.message.content, context.skip)
      const content = line.isHostAnswer ? blocks.map(asOutput) : blocks
      return content.length > 0 ? [messageOf(line, context, 'assistant', content)] : []
    }
    case 'user':
      if (line.isCompactSummary) return []
      if (line.message?.content === undefined) return skipped(context)
      return fromUserLine(line, line.message.content, context)
    case 'system':
      return line.subtype === 'local_command' ? fromUserLine(line, line.raw.content, context) : []
    case 'attachment':
      return fromUserLine(line, queuedCommandContent(line), context)
    case 'queue-operation':
      return context.queue.onOperation(line).map((text, index) => ({
        ...messageOf(line, context, 'user', [{ type: 'text', text }]),
        id: `${idOf(line, context)}${index === 0 ? '' : `#${index + 1}`}`,
      }))
    default:
      return []
  }
}

const asOutput = (block: ContentBlock): ContentBlock =>
  block.type === 'text' ? { type: 'tool_result', toolUseId: '', content: block.text } : block

/** What the host says in the place of a person who stopped the agent. */
const interruption = /^\[Request interrupted by user(?: for tool use)?\]$/

function fromUserLine(line: TranscriptLine, content: unknown, context: LineContext): Message[] {
  const results: ContentBlock[] = []
  const said: ContentBlock[] = []
  for (const block of toContentBlocks(content, context.skip)) {
    if (block.type !== 'text') {
      results.push(block)
      continue
    }
    if (line.isMeta) continue
    const separated = separateMarkup(block.text)
    if (separated.said.trim() !== '') {
      if (interruption.test(separated.said)) {
        results.push({ type: 'tool_result', toolUseId: '', content: separated.said })
      } else if (line.otherOrigin === undefined) said.push({ type: 'text', text: separated.said })
      else if (!context.queue.onPrompt(separated.said)) {
        results.push({ type: 'tool_result', toolUseId: '', content: separated.said })
      }
    }
    for (const output of separated.outputs) {
      results.push({ type: 'tool_result', toolUseId: '', content: output })
    }
    // A helper is asked by agents, a session by a person.
    for (const message of separated.messages) {
      if (context.isHelper) said.push({ type: 'text', text: message })
      else results.push({ type: 'tool_result', toolUseId: '', content: message })
    }
  }

  const messages: Message[] = []
  if (results.length > 0) messages.push(messageOf(line, context, 'assistant', results))
  const unread = context.queue.onPrompt(typedIn(said)) ? said.filter(isAttachmentMark) : said
  if (unread.length > 0) {
    // In a main transcript a sidechain's prompt was written by the agent, not by a person.
    const role = line.isSidechain && !context.isHelper ? 'assistant' : 'user'
    const message = messageOf(line, context, role, unread)
    messages.push(results.length > 0 ? { ...message, id: `${message.id}#said` } : message)
  }
  return messages
}

function messageOf(
  line: TranscriptLine,
  context: LineContext,
  role: Message['role'],
  content: ContentBlock[],
): Message {
  const at = toInstant(line.timestamp)
  return { id: idOf(line, context), role, content, ...(at === undefined ? {} : { at }) }
}

function idOf(line: TranscriptLine, context: LineContext): string {
  return line.uuid ?? context.fallbackId
}

/** The text of a prompt. The host queues it without what is attached to it. */
function typedIn(blocks: readonly ContentBlock[]): string {
  const typed = blocks.filter((block) => !isAttachmentMark(block))
  return typed.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

function skipped(context: LineContext): Message[] {
  context.skip(skippedKinds.notAMessage)
  return []
}
