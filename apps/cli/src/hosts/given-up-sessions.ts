import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { listImportable, splitAddress } from '@recall/agents'
import { withNotesLocked } from './lock-files.ts'
import {
  deleteNote,
  isGivenUp,
  type MemoryPlace,
  readNote,
  readNotes,
  type SessionNote,
  saveNote,
  stampOf,
} from './session-notes.ts'

/** A session that was given up, with the stamp of its transcript. */
export interface GivenUpSession extends SessionNote {
  seen: string | null
}

export const givenUpSessions = (place: MemoryPlace): GivenUpSession[] =>
  readNotes(place)
    .filter(isGivenUp)
    .map((session) => ({ ...session, seen: stampOf(session.transcript) }))

/**
 * Marks sessions as archived that were given up before.
 *
 * @param archived what a person archived since these were read
 */
export function settleGivenUp(
  place: MemoryPlace,
  givenUp: readonly GivenUpSession[],
  archived: readonly { path: string; sessionId: string }[],
): void {
  const paths = new Set(archived.map(({ path }) => path))
  const ids = new Set(archived.map(({ sessionId }) => sessionId))
  for (const { sessionId, transcript, seen } of givenUp) {
    if (!paths.has(transcript) && !ids.has(sessionId)) continue
    whileGivenUp(place, sessionId, ({ problem: _, ...rest }) =>
      saveNote(place, { ...rest, saved: 'session', ...(seen === null ? {} : { done: seen }) }),
    )
  }
}

/** Deletes the notes of sessions that were given up. */
export function deleteGivenUp(place: MemoryPlace, sessions: readonly SessionNote[]): void {
  for (const { sessionId } of sessions) whileGivenUp(place, sessionId, () => deleteNote(place, sessionId))
}

/** Reads the session again: a hook may have noted something meanwhile. */
function whileGivenUp(place: MemoryPlace, sessionId: string, change: (current: SessionNote) => void): void {
  withNotesLocked(place, () => {
    const current = readNote(place, sessionId)
    if (current !== undefined && isGivenUp(current)) change(current)
  })
}

/**
 * Whether nothing is left to archive of a session. A transcript that cannot be read is not gone, nor is one whose
 * folder is missing, as its disk may just not be mounted.
 */
export async function isGone({ transcript, summaries = [] }: SessionNote): Promise<boolean> {
  if (summaries.length > 0) return false
  const address = splitAddress(transcript)
  const file = address?.file ?? transcript
  try {
    const stats = await stat(file)
    if (address === null || !stats.isFile()) return false
  } catch (error) {
    // Node reads a name that is not UTF-8 with U+FFFD in it, and finds no file by that name.
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT' && !file.includes('\ufffd')
    return isAbsent && existsSync(dirname(file))
  }
  // For a database that cannot be read, only the file is listed.
  const listed = await listImportable(file)
  return !listed.includes(file) && !listed.includes(transcript)
}
