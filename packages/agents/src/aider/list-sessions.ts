import { createHash } from 'node:crypto'
import { trackFence } from '@recall/core/text'
import type { ListedSession } from '../reading/listed-session.ts'
import { stateOfFile } from '../reading/open-file.ts'
import { readLines } from '../reading/read-lines.ts'

/** The place of a session in a log. */
export interface ListedAiderSession extends ListedSession {
  /** Byte offset of the line with which it begins. */
  start: number
  /** Byte offset of its end; absent for the last one, which may go on. */
  end?: number
  /** When it began, ISO 8601. */
  at: string
  stamp: string
}

/** Cache of the log that was scanned last: its sessions are opened one after the other. */
let last: { key: string; sessions: ReadonlyMap<string, ListedAiderSession> } | null = null

/**
 * The sessions in a log of Aider by their ids: the time with which a session begins, as the log has it, and a number
 * where several begin in the same second. The log only grows, so an id stays.
 *
 * @returns `null` when the file is no such log
 * @throws MemoryError NOT_FOUND or FORBIDDEN when it cannot be read
 */
export async function listAiderSessions(
  path: string,
): Promise<ReadonlyMap<string, ListedAiderSession> | null> {
  const key = await stateOfFile(path)
  if (last?.key === key) return last.sessions
  const sessions = await scan(path)
  if (sessions !== null) last = { key, sessions }
  return sessions
}

async function scan(path: string): Promise<ReadonlyMap<string, ListedAiderSession> | null> {
  const sessions = new Map<string, ListedAiderSession>()
  const headOf = createHeadTracker()
  let session: ListedAiderSession | undefined
  let hash = createHash('sha256')
  for await (const { text, start } of readLines(path, { part: { start: 0 } })) {
    const began = headOf(text)
    if (began !== null) {
      if (session)
        Object.assign(session, { end: start, stamp: hash.digest('hex').slice(0, 24), changedAt: session.at })
      hash = createHash('sha256')
      session = { start, at: startOf(began), stamp: '' }
      sessions.set(freeId(sessions, began), session)
    } else if (session === undefined && text?.trim() !== '') return null
    hash.update(`${text}\n`)
  }
  if (session === undefined) return null
  session.stamp = hash.digest('hex').slice(0, 24)
  return sessions
}

/** The log has the local time of the machine that wrote it, without a zone: it is taken for that of this machine. */
const startOf = (began: string): string => new Date(began).toISOString()

/**
 * Returns a function that takes a log line by line, and tells when the session began that a line begins; `null` for any
 * other line. In code, which a reply may have left open when it was cut off, such a line may also be quoted: there it
 * must come after an empty line, and not be from before the session.
 */
function createHeadTracker(): (line: string | null) => string | null {
  let partOfCode = trackFence()
  let current = ''
  let isInCode = false
  let isAfterBlank = false
  return (line) => {
    const text = line ?? ''
    const began = headIn(text)
    if (began !== null && (!isInCode || (isAfterBlank && began >= current))) {
      partOfCode = trackFence()
      current = began
      isInCode = false
      return began
    }
    if (isInCode || !/^(?:####|>)(?: |$)/.test(text)) {
      const part = partOfCode(text)
      isInCode = part === 'opening' || part === 'code'
    }
    isAfterBlank = text.trim() === ''
    return null
  }
}

function headIn(line: string): string | null {
  const [, day, time] = /^# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\s*$/.exec(line) ?? []
  const began = `${day}T${time}`
  return Number.isNaN(Date.parse(began)) ? null : began
}

function freeId(sessions: ReadonlyMap<string, unknown>, began: string): string {
  const id = `aider-${began.replaceAll(':', '-')}`
  for (let n = 1; ; n++) {
    const numbered = n === 1 ? id : `${id}~${n}`
    if (!sessions.has(numbered)) return numbered
  }
}
