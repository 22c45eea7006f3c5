import { basename } from 'node:path'
import type { Conversation, ConversationFacts, Message } from '@recall/core'
import { createOriginFinder } from '../reading/forks.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import type { ReadLinesOptions } from '../reading/read-lines.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'
import { createForeignLineFilter } from './lines-of-helper.ts'
import { createQueuedPrompts } from './queued-prompts.ts'
import { createTitle } from './title.ts'
import { toMessages } from './to-messages.ts'
import { type TranscriptLine, toTranscriptLine } from './transcript-line.ts'

/** Lines within which the session's id must occur. */
const headLines = 200
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Opens a Claude Code transcript (JSONL). The file is streamed: memory use does not grow with its size.
 *
 * `messages` holds what the person said (without injected text and markup), what the assistant said and thought, tool
 * uses and tool results, in file order, each `uuid` once. A file cut off anywhere yields a prefix of the messages.
 * Damaged lines are skipped and counted in `facts.skipped`. A helper's transcript gets the id `<session id>/<agent id>`
 * and `parent`; what it copied from its session is left out, and so is all of it if the host started the helper for
 * itself. What a forked session copied is left out if the other's transcript is in the same folder.
 *
 * @throws MemoryError NOT_FOUND, FORBIDDEN or INVALID_INPUT when the file cannot be opened
 */
export async function readClaudeCodeTranscript(
  path: string,
  options: ReadLinesOptions = {},
): Promise<Conversation> {
  const identity = await identify(path, options)
  const facts: ConversationFacts = { skipped: {} }
  return {
    ...identity,
    facts,
    messages: readMessages(path, identity, facts, options),
  }
}

async function* readMessages(
  path: string,
  { sessionId, parent }: Pick<Conversation, 'sessionId' | 'parent'>,
  facts: ConversationFacts,
  options: ReadLinesOptions,
): AsyncGenerator<Message, void> {
  const skip = countInto(facts.skipped)
  const queue = createQueuedPrompts()
  const title = createTitle(sessionId)
  const isHelper = parent !== undefined
  const isLeftOut = isHelper ? createForeignLineFilter(sessionId.slice(parent.length + 1)) : () => false
  const findOrigin = createOriginFinder(path)
  const seen = new Set<string>()
  const idOf = createMessageIds()
  let copiedProject: string | undefined

  for await (const line of readTranscriptLines(path, skip, options)) {
    title.onLine(line)
    facts.title = title.best()
    if (isLeftOut(line) || findOrigin(line.raw) !== undefined) {
      copiedProject ??= line.cwd
      continue
    }
    facts.project ??= line.cwd
    if (line.uuid !== undefined && seen.has(line.uuid)) continue
    let id: string | undefined
    const fallbackId = (): string => (id ??= idOf(line.message ?? line.raw))
    const messages = toMessages(line, { fallbackId, isHelper, queue, skip })
    // A line that yielded nothing may be a damaged copy of a later one with the same uuid.
    if (line.uuid !== undefined && messages.length > 0) seen.add(line.uuid)
    yield* messages
  }
  facts.project ??= copiedProject
  for (let i = 0; i < queue.undelivered(); i++) skip('queued prompt that never reached the agent')
}

async function* readTranscriptLines(
  path: string,
  skip: Skip,
  options: ReadLinesOptions,
): AsyncGenerator<TranscriptLine, void> {
  for await (const { value } of readJsonLines(path, skip, options)) {
    const line = toTranscriptLine(value)
    if (line !== null) yield line
    else skip(skippedKinds.notAMessage)
  }
}

/**
 * Session id and parent of a transcript. A file name that is an id takes precedence over ids in the lines, because
 * a resumed session's file may begin with lines copied from another session.
 */
async function identify(
  path: string,
  options: ReadLinesOptions,
): Promise<Pick<Conversation, 'sessionId' | 'parent'>> {
  const stem = basename(path).replace(/\.jsonl$/, '')
  let sessionId = uuid.test(stem) ? stem : undefined
  for await (const line of readTranscriptLines(path, () => {}, { ...options, mostLines: headLines })) {
    sessionId ??= line.sessionId
    if (line.type === 'user' || line.type === 'assistant') {
      if (line.isSidechain && !uuid.test(stem)) {
        const parent = line.sessionId ?? sessionId ?? stem
        return { sessionId: `${parent}/${line.agentId ?? stem.replace(/^agent-/, '')}`, parent }
      }
      if (sessionId !== undefined) break
    }
  }
  return { sessionId: sessionId ?? stem }
}
