import {
  type ConversationArchive,
  conversationKey,
  conversationType,
  type JsonObject,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
} from '@recall/core'
import { sha256 } from '../files/digest.ts'
import { type FileEntry, type FileTimes, parseTime, stringsOf } from './file-entry.ts'
import { maxFrontMatterLength, parseFrontMatter, updateFrontMatter } from './front-matter.ts'
import { keepingLineEnds, lineEndsOf } from './line-ends.ts'

/**
 * A conversation archive: the front matter of the specification, then summary, turns and tags.
 *
 * @param earlier the file that it replaces; what a person added to its front matter stays, and so do its line ends
 * @throws MemoryError INVALID_INPUT when the front matter would be too long to be read again, CORRUPTION when the front
 * matter of the earlier file cannot be read
 */
export const printConversation = (archive: ConversationArchive, number: number, earlier = ''): string =>
  keepingLineEnds(earlier, (plain) => printAfter(plain, archive, number))

function printAfter(earlier: string, archive: ConversationArchive, number: number): string {
  const facts = {
    date: archive.date,
    session_id: archive.sessionId,
    message_count: archive.messageCount,
    duration: archive.duration,
    source: archive.source,
    topics: archive.topics,
    part: archive.part,
    project: archive.project,
    title: archive.title,
    last_message: archive.lastMessage,
    summarized_by: archive.summarizedBy,
    window_summary: archive.windowSummary,
  }
  const head = updateFrontMatter(
    earlier,
    {
      log: number,
      ...facts,
      body_hash: archive.edited ? 'edited' : hashOf(archive.body),
      head_hash: headHashOf(facts),
    },
    archive.sessionId,
  )
  if (head.length > maxFrontMatterLength) {
    throw new MemoryError(
      `the front matter of the archive of '${archive.sessionId.slice(0, 80)}' takes ${head.length} characters, and only ${maxFrontMatterLength} can be read again`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  return `${head}${archive.body}${archive.body.endsWith('\n') ? '' : '\n'}`
}

/**
 * Reads an archive, including one written by hand or by another tool: facts missing from the front matter are derived
 * from the file.
 */
export function parseConversation(
  content: string,
  number: number,
  stem: string,
  { modified }: FileTimes,
): FileEntry {
  const { fields, body: verbatim, bodyLine, problem } = parseFrontMatter(content)
  const body = lineEndsOf(content)(verbatim)
  const session =
    typeof fields.session_id === 'string' || typeof fields.session_id === 'number'
      ? String(fields.session_id)
      : undefined
  const part = typeof fields.part === 'number' && fields.part > 1 ? fields.part : 1
  const topics = stringsOf(fields.topics)
  const known: JsonObject = {
    log: number,
    date: typeof fields.date === 'string' ? fields.date : new Date(modified).toISOString(),
    sessionId: session ?? stem,
    messageCount: typeof fields.message_count === 'number' ? fields.message_count : 0,
    duration: typeof fields.duration === 'string' ? fields.duration : '0s',
    source: fields.source === 'checkpoint' ? 'checkpoint' : 'session',
    topics,
    ...(part > 1 ? { part } : {}),
    ...textsOf(fields),
    ...(isEdited(fields, body) ? { edited: true } : {}),
  }
  const ended = parseTime(known.date) ?? modified
  return {
    key: conversationKey(session ?? stem, part),
    type: conversationType,
    tags: topics,
    value: { ...known, body } satisfies Record<string, JsonValue>,
    text: verbatim,
    created: ended,
    // People who edit an archive leave its date as it is: a write that has not seen the edit must tell the two apart.
    updated: known.edited ? ended + 1 : ended,
    ttl: null,
    expires: null,
    line: bodyLine,
    ...(session === undefined ? {} : { session }),
    part,
    number,
    fields: known,
    ...(problem ? { problem } : {}),
  }
}

/**
 * The keys that forget an archive: its own, that of its session, and those of the sessions that its session helped,
 * whose ids its id begins with.
 */
export const keysOfArchive = (session: string, part: number): string[] => [
  conversationKey(session, part),
  ...session.split('/').map((_, i, ids) => conversationKey(ids.slice(0, i + 1).join('/'))),
]

/** The same for the text of any file; none if its front matter names no session. */
export function archiveKeysIn(content: string): string[] {
  const { session, part = 1 } = parseConversation(content, 0, '', { modified: 0 })
  return session === undefined ? [] : keysOfArchive(session, part)
}

/** The optional texts of the front matter, and their names in the value. */
const textFields = {
  last_message: 'lastMessage',
  summarized_by: 'summarizedBy',
  window_summary: 'windowSummary',
  project: 'project',
  title: 'title',
}

const textsOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(textFields)
      .map(([field, name]) => [name, fields[field]] as const)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

/** Whether an archive proves that it is whole: it names its session, and not a letter of it has changed since. */
export function isAsWritten(content: string): boolean {
  const { fields, body: verbatim } = parseFrontMatter(content)
  const body = lineEndsOf(content)(verbatim)
  const { session_id, body_hash, head_hash } = fields
  const isMarked = [session_id, body_hash, head_hash].every((field) => typeof field === 'string')
  return isMarked && !isEdited(fields, body)
}

/** The archiver writes both hashes beside the last message: where one is gone, a person took it out. */
function isEdited(fields: JsonObject, body: string): boolean {
  const { body_hash, head_hash, last_message } = fields
  const differs = (told: JsonValue | undefined, hash: string): boolean =>
    typeof told === 'string' ? told !== hash : typeof last_message === 'string'
  return differs(body_hash, hashOf(body)) || differs(head_hash, headHashOf(fields))
}

/** A hash of the fields that a person may correct, however YAML spells them; the other facts belong to the archiver. */
function headHashOf({
  date,
  duration,
  topics,
  project,
  title,
}: Record<string, JsonValue | undefined>): string {
  const facts = [date, duration, topics, project, title].map((fact) => fact ?? null)
  return sha256(JSON.stringify(facts)).slice(0, 16)
}

/** Tells a person's edits from line endings changed by an editor or git. */
const hashOf = (body: string): string => sha256(body.replaceAll('\r\n', '\n').trim()).slice(0, 16)
