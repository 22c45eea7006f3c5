import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { splitAddress } from '@recall/agents'
import { type Layout, writeInternal } from '@recall/store-file'

/** What is known of a host's session until it is archived for good. One small file each. */
export interface HostSession {
  sessionId: string
  host: string
  transcript: string
  /** When we last heard of it, milliseconds. */
  at: number
  /**
   * - `open`: it goes on, or its end was never told
   * - `checkpoint`: it goes on, and is to be saved as it is now
   * - `ended`: it is to be archived
   */
  state: 'open' | 'checkpoint' | 'ended'
  /** State of the transcript when it was last archived. */
  done?: string
  /** As what it was last archived: a checkpoint is not in the window. */
  saved?: 'checkpoint' | 'session'
  /** Summaries that the host made when it compacted the session, still to be remembered; redacted. */
  summaries?: { id: string; text: string }[]
  /** Why it could not be archived, and how often that was tried. */
  problem?: { reason: string; tries: number }
}

export interface MemoryPlace {
  root: string
  layout: Layout
}

/** After this a session is forgotten here; its archive stays, and whatever is still to be archived. */
const keepFor = 7 * 24 * 3600 * 1000
/** A transcript that cannot be archived is not tried for ever. */
const mostTries = 5
/** Tries of a session that a person had forgotten. */
export const neverAgain = 99

/** What a host said when it compacted a session is an episode of its own. */
export const compactionType = 'compaction-summary'
export const compactionKey = (sessionId: string, id: string): string => `compaction:${sessionId}:${id}`

const folderIn = ({ layout }: MemoryPlace): string => `${layout.internal}/sessions`
const nameOf = (sessionId: string): string =>
  `${createHash('sha256').update(sessionId).digest('hex').slice(0, 24)}.json`

export function readSessions(place: MemoryPlace): HostSession[] {
  const folder = join(place.root, folderIn(place))
  return listFiles(folder)
    .filter((name) => /^[0-9a-f]{24}\.json$/.test(name))
    .flatMap((name) => parseSession(join(folder, name)))
}

export function readSession(place: MemoryPlace, sessionId: string): HostSession | undefined {
  return parseSession(join(place.root, folderIn(place), nameOf(sessionId)))[0]
}

/** Durable when it returns. */
export function saveSession(place: MemoryPlace, session: HostSession): void {
  const { root, layout } = place
  writeInternal(
    { root, layout: { ...layout, internal: folderIn(place) } },
    nameOf(session.sessionId),
    JSON.stringify(session),
  )
}

/** Forgets sessions that nobody has heard of for a week, and of which nothing is left to be archived. */
export function forgetOldSessions(place: MemoryPlace, now: number, own: string): void {
  for (const session of readSessions(place)) {
    if (now - session.at <= keepFor || isPending(session, own) || isGivenUp(session)) continue
    rmSync(join(place.root, folderIn(place), nameOf(session.sessionId)), { force: true })
  }
}

/** Whether a session could not be archived and is not tried any more. One that was forgotten is not meant to be. */
export const isGivenUp = ({ problem }: HostSession): boolean =>
  problem !== undefined && problem.tries >= mostTries && problem.tries < neverAgain

/** Size and time of a transcript; `null` when it is not there yet. */
export function stampOf(transcript: string): string | null {
  // Behind the mark stands which session of a database it is.
  const path = splitAddress(transcript)?.file ?? transcript
  try {
    const { size, mtimeMs } = statSync(path)
    return `${size}-${mtimeMs}`
  } catch {
    return null
  }
}

/**
 * Whether there is something to archive. The own session of a caller only counts when it asked for it.
 *
 * @param own id of the session that is just starting
 */
export function isPending(session: HostSession, own?: string): boolean {
  if ((session.problem?.tries ?? 0) >= mostTries) return false
  if ((session.summaries?.length ?? 0) > 0 || session.state === 'checkpoint') return true
  if (session.state === 'open' && (own === undefined || session.sessionId === own)) return false
  if (session.saved === 'checkpoint') return true
  const stamp = stampOf(session.transcript)
  return stamp !== null && stamp !== session.done
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** A damaged note costs an archive that the transcript can still give: the import finds it. */
function parseSession(path: string): HostSession[] {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as HostSession
    return typeof value.sessionId === 'string' && typeof value.transcript === 'string' ? [value] : []
  } catch {
    return []
  }
}
