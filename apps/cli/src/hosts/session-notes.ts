import { existsSync, readdirSync, readFileSync, rmSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { splitAddress, transcriptNow } from '@recall/agents'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { type Layout, writeInternal } from '@recall/store-file'
import { sha256 } from '../digest.ts'

/** What is noted of a host's session, in a small file, from its first event until it is archived for good. */
export interface SessionNote {
  sessionId: string
  host: string
  transcript: string
  /** The folder in which it works, as the host reported it first. */
  cwd?: string
  /** Ids of the sessions that it was forked from, if any. */
  origins?: string[]
  /** Time of its last event, in milliseconds since the epoch. */
  at: number
  /**
   * - `open`: in progress, or ended without an event
   * - `checkpoint`: in progress, and to be saved as it is now
   * - `ended`: to be archived
   */
  state: 'open' | 'checkpoint' | 'ended'
  /** Stamp of the transcript when it was last archived, or found to be unchanged. */
  done?: string
  /** The state of the session itself at that time, if its transcript is in a shared database. */
  revision?: string | undefined
  /** The form in which it was last archived; only a `session` is in the window. */
  saved?: 'checkpoint' | 'session'
  /** Whether it was told with a prompt what memory knows, and was not compacted since. */
  isTold?: boolean
  /** Redacted summaries that the host wrote when it compacted the session, still to be stored. */
  summaries?: { id: string; text: string }[]
  /** Why it could not be archived. */
  problem?: SessionProblem
}

export interface SessionProblem {
  reason: string
  /** How many tries failed since the transcript changed. */
  tries: number
  /** Stamp of the transcript at that time; none for a session in a database. */
  seen?: string
  /** Whether because a person had it forgotten. */
  isForgotten?: boolean
}

export interface MemoryPlace {
  root: string
  layout: Layout
}

const day = 24 * 3600 * 1000
/** After this time the file of a session is deleted, unless something is left to archive. The archive stays. */
const keepFor = 7 * day
/**
 * The same for a session that did not end: some hosts report nothing of one that just goes on. Claude Code removes
 * transcripts after as long.
 */
const keepOpenFor = 30 * day
/** Number of tries after which a transcript is given up. */
const mostTries = 5

const folderIn = ({ layout }: MemoryPlace): string => `${layout.internal}/sessions`
const nameOf = (sessionId: string): string => `${sha256(sessionId).slice(0, 24)}.json`

export const readNotes = (place: MemoryPlace): SessionNote[] =>
  filesOf(place).flatMap((path) => parseNote(join(place.root, path)) ?? [])

/** Notes without usable content, relative to the root. */
export const damagedNotes = (place: MemoryPlace): string[] =>
  filesOf(place)
    .filter((path) => parseNote(join(place.root, path)) === undefined)
    // A hook may have deleted it meanwhile.
    .filter((path) => existsSync(join(place.root, path)))

const filesOf = (place: MemoryPlace): string[] =>
  listFiles(join(place.root, folderIn(place)))
    .filter((name) => /^[0-9a-f]{24}\.json$/.test(name))
    .map((name) => `${folderIn(place)}/${name}`)

export function readNote(place: MemoryPlace, sessionId: string): SessionNote | undefined {
  return parseNote(join(place.root, folderIn(place), nameOf(sessionId)))
}

/** How long a hook that must answer waits for a process that holds the memory's lock: that process may be suspended. */
export const hurriedLockMs = 1000

/** Writes the session durably. */
export function saveNote(place: MemoryPlace, session: SessionNote): void {
  const { root, layout } = place
  writeInternal(
    { root, layout: { ...layout, internal: folderIn(place) } },
    nameOf(session.sessionId),
    JSON.stringify(session),
  )
}

/** Deletes the files of sessions that have long been at rest, unless something is left to archive or was given up. */
export function deleteOldNotes(place: MemoryPlace, now: number, own: string): void {
  for (const session of readNotes(place)) {
    if (isRecent(session, now) || isPending(session, own) || isGivenUp(session)) continue
    deleteNote(place, session.sessionId)
  }
}

function isRecent({ transcript, state, at }: SessionNote, now: number): boolean {
  if (now - at <= keepFor) return true
  // A database changes with any of its sessions, and its host reports the end of each turn.
  if (splitAddress(transcript) !== null) return false
  const usedAt = Math.max(at, stateOf(transcript)?.changedAt ?? 0)
  return now - usedAt <= (state === 'open' ? keepOpenFor : keepFor)
}

/** Deletes the file of a session. */
export function deleteNote(place: MemoryPlace, sessionId: string): void {
  rmSync(join(place.root, folderIn(place), nameOf(sessionId)), { force: true })
}

/** Whether archiving a session was given up after failures. A session that a person had forgotten does not count. */
export const isGivenUp = ({ problem }: SessionNote): boolean =>
  problem !== undefined && problem.tries >= mostTries && !problem.isForgotten

/** Whether a transcript has changed since it could not be archived; one that is gone has not. */
function hasChanged({ transcript, problem }: SessionNote): boolean {
  return problem?.seen !== undefined && ![problem.seen, null].includes(stampOf(transcript))
}

/** Changes whenever a transcript does; `null` when there is no file. */
export const stampOf = (transcript: string): string | null => stateOf(transcript)?.stamp ?? null

/** Sizes and modification times of a transcript's files; `null` when there are none. */
export function stateOf(transcript: string): { stamp: string; changedAt: number } | null {
  // The address of a session in a database is the path of the file, a mark and the session's id.
  const { file } = splitAddress(transcript) ?? {}
  // The latest writes to a database may stay in its log alone for days.
  const paths = file === undefined ? [transcript] : [file, `${file}-wal`]
  const [main, log] = paths.map(statsOf)
  if (!main) return null
  const states = log ? [main, log] : [main]
  return {
    stamp: states.map(({ size, mtimeMs }) => `${size}-${mtimeMs}`).join('-'),
    changedAt: Math.max(...states.map(({ mtimeMs }) => mtimeMs)),
  }
}

function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/**
 * Whether a session has something to archive. An open session counts only when another one starts, and for the process
 * that continues the work of that start.
 *
 * @param own id of the session that is just starting
 */
export function isPending(session: SessionNote, own?: string): boolean {
  if (session.problem?.isForgotten || (isGivenUp(session) && !hasChanged(session))) return false
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
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new MemoryError(
      `${folder} cannot be read (${code}): see that it is a folder, and that this user may read there`,
      MemoryErrorCode.UNAVAILABLE,
      { cause: error, details: { path: folder } },
    )
  }
}

/** A damaged file only delays the archive: the doctor reports it, and an import still finds the transcript. */
function parseNote(path: string): SessionNote | undefined {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as SessionNote
    if (typeof value.sessionId !== 'string' || typeof value.transcript !== 'string') return undefined
    return { ...value, transcript: transcriptNow(value.transcript) }
  } catch {
    return undefined
  }
}
