import { basename } from 'node:path'
import type { ContentBlock, Conversation, ConversationFacts, Message } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { partsOf, textOfParts, toToolBlocks } from '../reading/content-parts.ts'
import { createOriginFinder } from '../reading/forks.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { outputBlock, saidAt } from '../reading/messages.ts'
import { withFilesApart } from '../reading/named-files.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { countInto, skippedKinds } from '../reading/skipped.ts'

/** Subtypes of what the host says in place of a person. */
const saidByHost = new Set<unknown>(['notification', 'cron', 'goal_runtime'])

type ChatRecord = Record<string, unknown> & { type: string }

/**
 * Whether a JSON line can only come from a chat of Qwen Code: its lines are named like those of Claude Code, and hold
 * messages in the shape of Gemini's API.
 */
export function isQwenLine(value: unknown): boolean {
  if (!isRecord(value) || nonEmptyText(value.uuid) === undefined) return false
  return 'systemPayload' in value || (isRecord(value.message) && Array.isArray(value.message.parts))
}

/**
 * Reads a chat (JSON Lines). A helper's chat names the session that started it, and gets the id `<session id>/<agent
 * id>`. What a forked session copied is left out if the other's chat is in the same folder. Rewind marks are ignored:
 * what was taken back was said all the same.
 */
export async function readQwenChat(path: string): Promise<Conversation> {
  const facts: ConversationFacts = { skipped: {} }
  return { ...(await identify(path)), facts, messages: readMessages(path, facts) }
}

async function identify(path: string): Promise<Pick<Conversation, 'sessionId' | 'parent'>> {
  for await (const { value } of readJsonLines(path, () => {})) {
    const { sessionId, isSidechain, agentId } = isRecord(value) ? value : {}
    const id = nonEmptyText(sessionId)
    const helper = isSidechain === true ? nonEmptyText(agentId) : undefined
    if (id !== undefined)
      return helper === undefined ? { sessionId: id } : { sessionId: `${id}/${helper}`, parent: id }
  }
  return { sessionId: basename(path).replace(/\.jsonl$/, '') }
}

async function* readMessages(path: string, facts: ConversationFacts): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const findOrigin = createOriginFinder(path)
  const idOf = createMessageIds()
  const seen = new Set<string>()
  let copiedProject: string | undefined
  for await (const { value } of readJsonLines(path, skip)) {
    if (!isRecord(value) || typeof value.type !== 'string') {
      skip(skippedKinds.notAMessage)
      continue
    }
    noteTitle(value, facts)
    const cwd = nonEmptyText(value.cwd)
    const id = nonEmptyText(value.uuid) ?? idOf([value.type, value.message])
    if (findOrigin(value) !== undefined) {
      copiedProject ??= cwd
      continue
    }
    facts.project ??= cwd
    if (seen.has(id)) continue
    seen.add(id)
    yield* toMessages(value as ChatRecord, id)
  }
  facts.project ??= copiedProject
}

function noteTitle({ subtype, systemPayload }: Record<string, unknown>, facts: ConversationFacts): void {
  const title = isRecord(systemPayload) && subtype === 'custom_title' ? systemPayload.customTitle : undefined
  if (typeof title === 'string' && title.trim() !== '') facts.title = title.trim()
}

function toMessages(record: ChatRecord, id: string): Message[] {
  const asMessage = (role: Message['role'], content: ContentBlock[]): Message[] =>
    content.length === 0 ? [] : [{ id, role, content, ...saidAt(record.timestamp) }]
  const parts = partsOf(isRecord(record.message) ? record.message.parts : undefined)
  switch (record.type) {
    case 'user': {
      const text = promptOf(record, parts)
      if (isFromHost(record)) return asMessage('assistant', text.trim() === '' ? [] : [outputBlock(text)])
      return asMessage('user', asText(text)).flatMap((told) => withFilesApart(told, text))
    }
    case 'assistant':
      return asMessage('assistant', [...asText(textOfParts(parts)), ...parts.flatMap(toToolBlocks)])
    case 'tool_result':
      return asMessage('assistant', resultsOf(record, parts))
    default:
      // Notes of the host.
      return []
  }
}

const isFromHost = ({ subtype, externalInputKind }: ChatRecord): boolean =>
  saidByHost.has(subtype) || externalInputKind === 'notification'

/** What was typed, as the host shows it; the parts hold what the host and hooks made of it for the model. */
function promptOf({ systemPayload }: ChatRecord, parts: readonly unknown[]): string {
  const shown = isRecord(systemPayload) ? nonEmptyText(systemPayload.displayText) : undefined
  return shown ?? textOfParts(parts)
}

const asText = (text: string): ContentBlock[] => (text.trim() === '' ? [] : [{ type: 'text', text }])

/** The results of calls, as the person saw them if that is a text, otherwise as the model was given them. */
function resultsOf({ toolCallResult }: ChatRecord, parts: readonly unknown[]): ContentBlock[] {
  const results = parts.flatMap(toToolBlocks)
  const { resultDisplay, status } = isRecord(toolCallResult) ? toolCallResult : {}
  const failed = status === 'error' ? { isError: true } : {}
  const isShown = typeof resultDisplay === 'string' && results.length === 1
  return results.map((block) =>
    block.type === 'tool_result'
      ? { ...block, ...failed, ...(isShown ? { content: resultDisplay } : {}) }
      : block,
  )
}
