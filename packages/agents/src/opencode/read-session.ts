import {
  type ContentBlock,
  type Conversation,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  type Message,
} from '@recall/core'
import { compacted } from '../reading/compacted.ts'
import { isRecord, toContentBlocks, toolName } from '../reading/content-blocks.ts'
import { toInstant } from '../reading/instants.ts'
import { commandOf } from '../reading/ran-command.ts'
import { parseJson } from '../reading/read-json-lines.ts'
import { countInto, type Skip, skippedKinds } from '../reading/skipped.ts'
import { hasTables, type Query, type Row, withSnapshot } from '../reading/sqlite-snapshot.ts'

/** What the host calls a session until it has a title. */
const untitled = /^(?:New|Child) session - \d{4}-/

/** The host's words for the model in a message of the person, before the answer that holds a command they ran. */
const commandNotice = 'The following tool was executed by the user'

/** The sessions in a database of OpenCode, each as `<database>#<session id>`; `null` for any other database. */
export function listOpencodeSessions(path: string): Promise<string[] | null> {
  return withSnapshot(path, (query) =>
    hasTables(query, 'session', 'message', 'part')
      ? query('SELECT id FROM session ORDER BY time_created, id').map(({ id }) => `${path}#${String(id)}`)
      : null,
  )
}

/** A session with its helpers and theirs, each as `<database>#<session id>`. */
export function listOpencodeSession(path: string, sessionId: string): Promise<string[]> {
  return withSnapshot(path, (query) => {
    const found = new Set([sessionId])
    // What is found on the way is looked into as well.
    for (const above of found)
      for (const { id } of query(
        'SELECT id FROM session WHERE parent_id = ? ORDER BY time_created, id',
        above,
      ))
        found.add(String(id))
    return [...found].map((id) => `${path}#${id}`)
  })
}

/**
 * Reads one session from a database of OpenCode.
 *
 * @throws MemoryError NOT_FOUND when there is no such session
 */
export function readOpencodeSession(path: string, sessionId: string): Promise<Conversation> {
  return withSnapshot(path, (query) => {
    const [session] = query('SELECT * FROM session WHERE id = ?', sessionId)
    if (session === undefined) {
      throw new MemoryError(`${path} has no session ${sessionId}`, MemoryErrorCode.NOT_FOUND, {
        details: { path },
      })
    }
    const skipped: Record<string, number> = {}
    const messages = query('SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id', sessionId)
    return {
      ...identityOf(query, session, sessionId),
      facts: {
        skipped,
        ...(typeof session.title === 'string' && !untitled.test(session.title)
          ? { title: session.title }
          : {}),
        ...(typeof session.directory === 'string' ? { project: session.directory } : {}),
      },
      messages: messages.flatMap(reader(query, countInto(skipped))),
    }
  })
}

/** A helper is named after all that stand above it, so that what goes by the first session finds it as well. */
function identityOf(query: Query, session: Row, id: string): Pick<Conversation, 'sessionId' | 'parent'> {
  const line = [id]
  let above = session.parent_id
  while (typeof above === 'string' && !line.includes(above)) {
    line.unshift(above)
    above = query('SELECT parent_id FROM session WHERE id = ?', above)[0]?.parent_id
  }
  const parent = line.slice(0, -1).join('/')
  return { sessionId: line.join('/'), ...(parent === '' ? {} : { parent }) }
}

/** Reads a session's messages, one after the other. */
function reader(query: Query, skip: Skip): (row: Row) => Message[] {
  const notices = new Set<unknown>()
  return (row) => {
    const data = objectIn(row.data)
    if (data.role !== 'user' && data.role !== 'assistant') {
      skip(skippedKinds.notAMessage)
      return []
    }
    const parts = query('SELECT * FROM part WHERE message_id = ? ORDER BY id', String(row.id)).map((part) =>
      objectIn(part.data),
    )
    if (parts.some(({ text, synthetic }) => synthetic === true && text === commandNotice)) notices.add(row.id)
    const content = parts.flatMap((part) => toBlocks(part, skip))
    if (content.length === 0) return []
    const at = toInstant(row.time_created)
    const message: Message = {
      id: String(row.id),
      role: data.role,
      content: data.summary === true ? [compacted] : content,
      ...(at === undefined ? {} : { at }),
    }
    const ran = notices.has(data.parentID) ? ranIn(parts) : undefined
    return ran === undefined ? [message] : commandOf(message, ran.command, ran.output)
  }
}

/** The command that a person ran is all that is in its message; an answer of the agent has more parts. */
function ranIn(parts: readonly Record<string, unknown>[]): { command: string; output: string } | undefined {
  const [state, ...others] = parts.map((part) => part.state)
  if (!isRecord(state) || !isRecord(state.input) || others.length > 0) return undefined
  const { command } = state.input
  if (typeof command !== 'string') return undefined
  return { command, output: typeof state.output === 'string' ? state.output : '' }
}

function toBlocks(part: Record<string, unknown>, skip: Skip): ContentBlock[] {
  if (typeof part.type !== 'string') {
    skip(skippedKinds.unknownBlock)
    return []
  }
  // Synthetic texts were inserted by the host.
  if (part.type === 'text' && typeof part.text === 'string' && part.synthetic !== true) {
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  }
  // A slash command that a helper works on. What was typed behind it stands only in the words for the helper.
  if (part.type === 'subtask' && typeof part.command === 'string')
    return [{ type: 'text', text: `/${part.command}` }]
  if (part.type === 'file') return toAttachment(part.mime, skip)
  if (part.type !== 'tool') return []
  const state = isRecord(part.state) ? part.state : {}
  const id = typeof part.callID === 'string' ? part.callID : ''
  const output = state.output ?? state.error
  return [
    { type: 'tool_use', id, name: toolName(part.tool), input: (state.input ?? null) as JsonValue },
    ...(typeof output === 'string'
      ? [
          {
            type: 'tool_result' as const,
            toolUseId: id,
            content: output,
            ...(state.error ? { isError: true } : {}),
          },
        ]
      : []),
  ]
}

/** The host puts the text of a file or a folder that a person named into the message, and the name stands in theirs. */
function toAttachment(mime: unknown, skip: Skip): ContentBlock[] {
  if (typeof mime !== 'string' || /^text\/|directory$/.test(mime)) return []
  return toContentBlocks([{ type: mime.startsWith('image/') ? 'image' : 'document' }], skip)
}

function objectIn(text: unknown): Record<string, unknown> {
  const value = typeof text === 'string' ? parseJson(text) : text
  return isRecord(value) ? value : {}
}
