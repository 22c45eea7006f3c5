import type { ContentBlock, Message } from '@recall/core'
import { isAttachmentMark, toContentBlocks } from '../reading/content-blocks.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { type Skip, skippedKinds } from '../reading/skipped.ts'
import { type QueuedPrompts, queuedCommandContent } from './queued-prompts.ts'
import { separateMarkup } from './separate-markup.ts'
import type { TranscriptLine } from './transcript-line.ts'

export interface LineContext {
  /** Id of the messages of a line without a `uuid`. */
  fallbackId(): string
  /** Whether the transcript is a helper's, whose user lines are the prompts that it was given. */
  isHelper: boolean
  queue: QueuedPrompts
  skip: Skip
}

/**
 * The messages in one transcript line. Most `user` lines are tool results: those become blocks in the assistant's role.
 * A line with both tool results and typed text yields one message for each role.
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

const asText = (text: string): ContentBlock => ({ type: 'text', text })
const asOutput = (block: ContentBlock): ContentBlock =>
  block.type === 'text' ? outputBlock(block.text) : block

/** What the host writes in place of a person who stopped the agent. */
const interruption = /^\[Request interrupted by user(?: for tool use)?\]$/

function fromUserLine(line: TranscriptLine, content: unknown, context: LineContext): Message[] {
  const blocks = toContentBlocks(content, context.skip)
  const speech = blocks.map((block) =>
    block.type === 'text' ? speechIn(block.text, line, context) : { said: [], results: [block] },
  )
  const said = speech.flatMap((each) => each.said)
  const results = speech.flatMap((each) => each.results)

  const messages: Message[] = []
  if (results.length > 0) messages.push(messageOf(line, context, 'assistant', results))
  const unread = context.queue.onPrompt(typedText(said)) ? said.filter(isAttachmentMark) : said
  if (unread.length > 0) {
    // In a main transcript a sidechain's prompt was written by the agent, not by a person.
    const role = line.isSidechain && !context.isHelper ? 'assistant' : 'user'
    const message = messageOf(line, context, role, unread)
    messages.push(results.length > 0 ? { ...message, id: `${message.id}#said` } : message)
  }
  return messages
}

/** What was said in the person's role, and what the host, its commands and other agents reported. */
interface Speech {
  said: ContentBlock[]
  results: ContentBlock[]
}

function speechIn(text: string, line: TranscriptLine, { queue, isHelper }: LineContext): Speech {
  if (line.isMeta) return { said: [], results: [] }
  const { said, outputs, messages } = separateMarkup(text)
  const speech: Speech = { said: [], results: [] }
  if (interruption.test(said)) speech.results.push(outputBlock(said))
  else if (said.trim() !== '') {
    if (line.otherOrigin === undefined) speech.said.push(asText(said))
    // A queued prompt was recorded when it was queued.
    else if (!queue.onPrompt(said)) speech.results.push(outputBlock(said))
  }
  speech.results.push(...outputs.map(outputBlock))
  // Agents prompt a helper; a person prompts a session.
  if (isHelper) speech.said.push(...messages.map(asText))
  else speech.results.push(...messages.map(outputBlock))
  return speech
}

function messageOf(
  line: TranscriptLine,
  context: LineContext,
  role: Message['role'],
  content: ContentBlock[],
): Message {
  return { id: idOf(line, context), role, content, ...saidAt(line.timestamp) }
}

function idOf(line: TranscriptLine, context: LineContext): string {
  return line.uuid ?? context.fallbackId()
}

/** The text of a prompt. The host queues it without its attachments. */
function typedText(blocks: readonly ContentBlock[]): string {
  const typed = blocks.filter((block) => !isAttachmentMark(block))
  return typed.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

function skipped(context: LineContext): Message[] {
  context.skip(skippedKinds.notAMessage)
  return []
}
