import { basename } from 'node:path'
import { type Conversation, type ConversationFacts, MemoryError, MemoryErrorCode } from '@recall/core'
import { readJsonDocument } from '../reading/read-json-document.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { readLines } from '../reading/read-lines.ts'
import { documentMessages, readJsonLineMessages, sessionIdOf, toJsonDocument } from './read-json.ts'
import { hasSpeakers, readMarkdownMessages } from './read-markdown.ts'
import { isNeutralMessage } from './to-message.ts'

/** How many lines are checked to tell JSON Lines from other formats. */
const headLines = 200

export const neutralFormats = [
  'JSON Lines with { role, content, at?, id? } on each line and optionally { session_id } on the first',
  'a JSON list of such messages, or an object with "messages"',
  'markdown with "## User" and "## Assistant" headings, or "User:" and "Assistant:" labels',
]

/**
 * Opens a transcript in a format that belongs to no host: JSON Lines, a JSON list, or markdown. JSON Lines and markdown
 * are streamed; a JSON document may have up to 64 MB.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the file cannot be opened, INVALID_INPUT when it has none of these
 * formats
 */
export async function readNeutralTranscript(path: string): Promise<Conversation> {
  const conversation = await openNeutralTranscript(path)
  if (conversation !== null) return conversation
  throw new MemoryError(
    `${path} is not a transcript in a known format: expected ${neutralFormats.join('; or ')}`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )
}

/** As `readNeutralTranscript`, but `null` when the file is none of the formats. */
export async function openNeutralTranscript(path: string): Promise<Conversation | null> {
  const facts: ConversationFacts = { skipped: {} }
  const named = (sessionId?: string): Pick<Conversation, 'sessionId' | 'isNamedByFile'> =>
    sessionId === undefined
      ? { sessionId: basename(path).replace(/\.[^.]+$/, ''), isNamedByFile: true }
      : { sessionId }

  const lines = await lookAtJsonLines(path)
  if (lines.mayBeDocument) {
    const value = await readJsonDocument(path)
    const document = toJsonDocument(value)
    if (document !== null) {
      Object.assign(facts, document.facts)
      return { ...named(document.sessionId), facts, messages: documentMessages(document, facts) }
    }
    // As JSON Lines, only its last message would be read.
    if (value === undefined && lines.startsList) throw unreadableList(path)
  }
  if (lines.hasMessages) {
    return { ...named(lines.sessionId), facts, messages: readJsonLineMessages(path, facts) }
  }
  if (await hasSpeakers(path)) {
    return { ...named(), facts, messages: readMarkdownMessages(path, facts) }
  }
  return null
}

const unreadableList = (path: string): MemoryError =>
  new MemoryError(
    `${path} begins as a JSON list, and is damaged or above 64 MB: write each message on its own line, as JSON Lines`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )

interface JsonLook {
  hasMessages: boolean
  mayBeDocument: boolean
  startsList: boolean
  sessionId?: string
}

async function lookAtJsonLines(path: string): Promise<JsonLook> {
  const beginning = await firstLine(path)
  const startsList = /^\[\s*(?:\{|$)/.test(beginning)
  const startsLikeJson = /^[[{]/.test(beginning)
  let sessionId: string | undefined
  let unread = 0
  for await (const { value } of readJsonLines(path, () => unread++, { mostLines: headLines })) {
    sessionId ??= sessionIdOf(value)
    if (isNeutralMessage(value)) {
      // In a list with one message per line, the last has no comma after it, and is JSON by itself.
      return { hasMessages: true, mayBeDocument: unread > 0 && startsLikeJson, startsList, sessionId }
    }
  }
  return { hasMessages: false, mayBeDocument: startsLikeJson, startsList }
}

/** The first line that is not blank, without leading blanks; `[` for one that is too long to be anything but JSON. */
async function firstLine(path: string): Promise<string> {
  for await (const { text } of readLines(path)) {
    const line = text === null ? '[' : text.trimStart()
    if (line !== '') return line
  }
  return ''
}
