import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ContentBlock, Conversation, ConversationFacts, JsonValue, Message } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { toolName } from '../reading/content-blocks.ts'
import { idOfCall, outputOf, partsOf, textOfParts, toToolBlocks } from '../reading/content-parts.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { withFilesApart } from '../reading/named-files.ts'
import { type CommandFrame, ranCommand } from '../reading/ran-command.ts'
import { firstValue, readJsonLines } from '../reading/read-json-lines.ts'
import { countInto, skippedKinds } from '../reading/skipped.ts'
import { createContinuationFilter, isSaidByHost, type Prompt, typedIn } from './prompt-text.ts'

/** Whether a JSON line can only come from a chat of Gemini CLI: an answer, or the line that names the session. */
export function isChatLine(value: unknown): boolean {
  return (
    (isChatMessage(value) && value.type === 'gemini') ||
    (isRecord(value) && typeof value.sessionId === 'string' && typeof value.projectHash === 'string')
  )
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

type ChatDocument = Record<string, unknown> & { messages: unknown[] }

type ChatMessage = Record<string, unknown> & { type: string }

function isChatMessage(value: unknown): value is ChatMessage {
  return isRecord(value) && typeof value.type === 'string' && 'content' in value
}

const commandFrame: CommandFrame = [
  'I ran the following shell command:\n```sh\n',
  '\n```\n\nThis produced the following result:\n```\n',
  '```',
]

/**
 * Reads a chat in the form of a log, which repeats a whole message whenever its tools or its text advance. A helper's
 * chat is in a folder named after the session that started it.
 */
export async function readChatLines(path: string): Promise<Conversation> {
  const facts = await factsOf(path)
  return { ...identityOf(path, await firstValue(path)), facts, messages: linesOf(path, facts) }
}

function identityOf(path: string, header: unknown): Pick<Conversation, 'sessionId' | 'parent'> {
  const { sessionId: id, kind } = isRecord(header) ? header : {}
  const sessionId = nonEmptyText(id) ?? basename(path).replace(/\.jsonl?$/, '')
  if (kind !== 'subagent') return { sessionId }
  const parent = basename(dirname(path))
  return { sessionId: `${parent}/${sessionId}`, parent }
}

async function factsOf(path: string): Promise<ConversationFacts> {
  const project = await projectOf(path)
  return { skipped: {}, ...(project === undefined ? {} : { project }) }
}

/** Takes over the host's notes about a session: among others the folders in which it worked, and a title. */
function takeOver({ directories, summary }: Record<string, unknown>, facts: ConversationFacts): void {
  if (Array.isArray(directories) && typeof directories[0] === 'string') facts.project ??= directories[0]
  if (typeof summary === 'string' && summary.trim() !== '') facts.title = summary.trim()
}

/** The host names a project's folder in a file next to its chats; a helper's chat lies one folder deeper. */
async function projectOf(path: string): Promise<string | undefined> {
  for (const folder of ['..', '../..']) {
    try {
      return (await readFile(join(dirname(path), folder, '.project_root'), 'utf8')).trim() || undefined
    } catch {
      // Older versions wrote none, and a chat may be anywhere.
    }
  }
  return undefined
}

/** Reads a chat in the form of older versions, from a parsed JSON document. */
export async function readChatDocument(path: string, document: ChatDocument): Promise<Conversation> {
  const facts = await factsOf(path)
  takeOver(document, facts)
  return { ...identityOf(path, document), facts, messages: documentOf(document.messages, facts) }
}

/**
 * The last state of each message, at its first position. Rewind marks are ignored: what was taken back was said all the
 * same, and an archive written before a rewind still matches its transcript.
 */
async function* linesOf(path: string, facts: ConversationFacts): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const said = createChatLog()
  const context = createChatLog()
  for await (const { value } of readJsonLines(path, skip)) {
    if (!isRecord(value)) skip(skippedKinds.notAMessage)
    else if (isChatMessage(value)) said.add(value)
    else for (const each of messagesNoted(value, facts)) context.add(each)
  }
  // After a compression the host logs the context again, which was said before: it is used only if there is nothing
  // else.
  yield* said.isEmpty() ? context.messages() : said.messages()
}

/** The messages in a line that records something about the whole chat, which is taken over into the facts. */
function messagesNoted(line: Record<string, unknown>, facts: ConversationFacts): ChatMessage[] {
  const noted = isRecord(line.$set) ? line.$set : line
  takeOver(noted, facts)
  return Array.isArray(noted.messages) ? noted.messages.filter(isChatMessage) : []
}

function* documentOf(messages: readonly unknown[], facts: ConversationFacts): Generator<Message, void> {
  const skip = countInto(facts.skipped)
  const log = createChatLog()
  for (const value of messages) {
    if (isChatMessage(value)) log.add(value)
    else skip(skippedKinds.notAMessage)
  }
  yield* log.messages()
}

/** Collects the last state of each message, in the order of first appearance. */
function createChatLog() {
  const last = new Map<string, { messages: Message[]; prompt: Prompt }>()
  const idOf = createMessageIds()
  return {
    isEmpty: (): boolean => [...last.values()].every(({ messages }) => messages.length === 0),
    add(message: ChatMessage): void {
      const id = nonEmptyText(message.id) ?? idOf([message.type, message.content])
      last.set(id, { messages: toMessages(message, id), prompt: promptIn(message) })
    },
    *messages(): Generator<Message, void> {
      const answered = new Set<string>()
      const isContinued = createContinuationFilter()
      const told = [...last.values()].flatMap(({ messages, prompt }) =>
        isContinued(prompt)
          ? messages.slice(0, 1).map((each) => ({ ...each, ...saidByHost(prompt.told) }))
          : messages,
      )
      for (const message of told) {
        const content = message.content.filter((block) => isFirstAnswer(block, answered))
        if (content.length > 0) yield { ...message, content }
      }
    },
  }
}

/** Drops repeated results: a call's result may be logged with the call and again in the message to the model. */
function isFirstAnswer(block: ContentBlock, answered: Set<string>): boolean {
  if (block.type !== 'tool_result' || block.toolUseId === '') return true
  if (answered.has(block.toolUseId)) return false
  answered.add(block.toolUseId)
  return true
}

function toMessages(message: ChatMessage, id: string): Message[] {
  // Notices and errors of the host were not said by anybody.
  if (message.type !== 'user' && message.type !== 'gemini') return []
  const isUser = message.type === 'user'
  // `displayContent` is what was typed; `content` is what the host made of it for the model, for example with whole
  // files.
  const text = textOf((isUser && message.displayContent) || message.content, isUser)
  const toolCalls = Array.isArray(message.toolCalls) ? message.toolCalls.filter(isRecord) : []
  if (isUser && isSaidByHost(text)) return [{ id, ...saidByHost(text), ...saidAt(message.timestamp) }]
  const isSaid = isUser && text.trim() !== ''
  // The list of calls holds more than the parts of the content that requested them.
  const tools =
    toolCalls.length > 0 ? toolCalls.flatMap(toTool) : partsOf(message.content).flatMap(toToolBlocks)
  const content: ContentBlock[] = [
    ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
    ...(isSaid ? [] : tools),
  ]
  if (content.length === 0) return []
  const told: Message = { id, role: isSaid ? 'user' : 'assistant', content, ...saidAt(message.timestamp) }
  return ranCommand(told, commandFrame) ?? withFilesApart(told, text)
}

/** What the host says in place of a person. */
const saidByHost = (text: string): Pick<Message, 'role' | 'content'> => ({
  role: 'assistant',
  content: [outputBlock(text)],
})

function promptIn({ type, content, displayContent }: ChatMessage): Prompt {
  if (type !== 'user') return { shown: '', told: '' }
  const told = textOf(content, true)
  return { shown: displayContent ? textOf(displayContent, true) : told, told }
}

function toTool(call: Record<string, unknown>): ContentBlock[] {
  const id = idOfCall(call)
  const output = outputOf(call)
  const failed = call.status === 'error' ? { isError: true } : {}
  return [
    { type: 'tool_use', id, name: toolName(call.name), input: (call.args ?? null) as JsonValue },
    ...(output === undefined
      ? []
      : [{ type: 'tool_result' as const, toolUseId: id, content: output, ...failed }]),
  ]
}

/** The text of a message's content, without the model's thoughts and the host's insertions. */
const textOf = (content: unknown, isUser: boolean): string =>
  textOfParts(partsOf(content), isUser ? typedIn : undefined)
