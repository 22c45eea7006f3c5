import { type Conversation, MemoryError, MemoryErrorCode, type Message } from '@recall/core'
import type { ListedSession } from '../reading/listed-session.ts'
import { countInto, type Skip } from '../reading/skipped.ts'
import { hasTables, type Query, type Row, withSnapshot } from '../reading/sqlite-snapshot.ts'
import { messagesOf1 } from './messages-of-1.ts'
import { messagesOf2 } from './messages-of-2.ts'

/** What the host calls a session until it has a title. */
const untitled = /^(?:New|Child) session - \d{4}-/

/** How a version of the host keeps its sessions. */
interface Generation {
  sessions: string
  /** The tables of the sessions' messages. */
  said: readonly string[]
  /** Selects each row of a session's messages, with its `data`. */
  rowsOf: string
  messagesOf(query: Query, sessionId: string, skip: Skip): Message[]
}

/** OpenCode 2 has copied what it found in the tables of OpenCode 1, and leaves those as they are. */
const generations: readonly Generation[] = [
  {
    sessions: 'session_v2',
    said: ['session_message'],
    rowsOf: 'SELECT data FROM session_message WHERE session_id = ?1',
    messagesOf: messagesOf2,
  },
  {
    sessions: 'session',
    said: ['message', 'part'],
    rowsOf: `SELECT data FROM message WHERE session_id = ?1 UNION ALL
      SELECT part.data FROM message JOIN part ON part.message_id = message.id WHERE message.session_id = ?1`,
    messagesOf: messagesOf1,
  },
]

const generationsIn = (query: Query): Generation[] =>
  generations.filter(({ sessions }) => hasTables(query, sessions))

/** The sessions in a database of OpenCode by their ids; `null` for any other database. */
export function listOpencodeSessions(path: string): Promise<ReadonlyMap<string, ListedSession> | null> {
  return withSnapshot(path, (query) => {
    const whole = generationsIn(query).filter(({ said }) => hasTables(query, ...said))
    if (whole.length === 0) return null
    const found = whole.map(({ sessions }) => `SELECT id, time_created FROM ${sessions}`).join(' UNION ALL ')
    const rows = query(`SELECT id FROM (${found}) GROUP BY id ORDER BY min(time_created), id`)
    return new Map(rows.map(({ id }) => [String(id), {}]))
  })
}

/** The ids of a session, its helpers and theirs. */
export function listOpencodeHelpers(path: string, sessionId: string): Promise<string[]> {
  return withSnapshot(path, (query) => withHelpers(query, sessionId))
}

function withHelpers(query: Query, sessionId: string): string[] {
  const all = generationsIn(query).map(
    ({ sessions }) => `SELECT id, parent_id, time_created FROM ${sessions}`,
  )
  if (all.length === 0) return [sessionId]
  const below = `SELECT id FROM (${all.join(' UNION ALL ')}) WHERE parent_id = ? ORDER BY time_created, id`
  const found = new Set([sessionId])
  // Sessions found on the way are searched as well.
  for (const above of found) for (const { id } of query(below, above)) found.add(String(id))
  return [...found]
}

/**
 * A text for each of some sessions in a database that changes when something is said in the session, or in its helpers:
 * only the number and sizes of the rows are read.
 */
export function sessionRevisions(path: string, ids: readonly string[]): Promise<Map<string, string>> {
  return withSnapshot(path, (query) => new Map(ids.map((id) => [id, revisionOf(query, id)])))
}

function revisionOf(query: Query, sessionId: string): string {
  const said = generationsIn(query).map(({ rowsOf }) => `SELECT octet_length(data) AS size FROM (${rowsOf})`)
  const sizes = `SELECT count(*) AS count, total(size) AS size FROM (${said.join(' UNION ALL ')})`
  return withHelpers(query, sessionId)
    .map((id) => {
      const updated = updatedAt(latestOf(query, id)?.session ?? {})
      return [updated, ...(said.length > 0 ? query(sizes, id) : []).flatMap(Object.values)].join('-')
    })
    .join(' ')
}

/**
 * Reads one session from a database of OpenCode.
 *
 * @throws MemoryError NOT_FOUND when there is no such session
 */
export function readOpencodeSession(path: string, sessionId: string): Promise<Conversation> {
  return withSnapshot(path, (query) => {
    const found = latestOf(query, sessionId)
    if (found === undefined) {
      throw new MemoryError(`${path} has no session ${sessionId}`, MemoryErrorCode.NOT_FOUND, {
        details: { path },
      })
    }
    const { session, messagesOf } = found
    const skipped: Record<string, number> = {}
    return {
      ...identityOf(query, session, sessionId),
      facts: {
        skipped,
        ...(typeof session.title === 'string' && !untitled.test(session.title)
          ? { title: session.title }
          : {}),
        ...(typeof session.directory === 'string' ? { project: session.directory } : {}),
      },
      messages: messagesOf(query, sessionId, countInto(skipped)),
    }
  })
}

/**
 * A session as kept by the host version that continued it; if none did, as the first one kept it, whose names of tools
 * are in existing archives.
 */
function latestOf(query: Query, sessionId: string): (Generation & { session: Row }) | undefined {
  const found = generationsIn(query).flatMap((generation) =>
    query(`SELECT * FROM ${generation.sessions} WHERE id = ?`, sessionId).map((session) => ({
      ...generation,
      session,
    })),
  )
  return found.sort((a, b) => updatedAt(a.session) - updatedAt(b.session)).at(-1)
}

const updatedAt = ({ time_updated: at }: Row): number => Number(at ?? 0)

/** A helper is named after all sessions above it, so that operations on the first session find it as well. */
function identityOf(query: Query, session: Row, id: string): Pick<Conversation, 'sessionId' | 'parent'> {
  const line = [id]
  let above = session.parent_id
  while (typeof above === 'string' && !line.includes(above)) {
    line.unshift(above)
    above = latestOf(query, above)?.session.parent_id
  }
  const parent = line.slice(0, -1).join('/')
  return { sessionId: line.join('/'), ...(parent === '' ? {} : { parent }) }
}
