import type { Address, MemoryScope } from '@recall/core'
import { compactionKey, sessionOf } from '../memory/session-keys.ts'
import { withNotesLocked } from './lock-files.ts'
import { type MemoryPlace, readNote, readNotes, saveNote } from './session-notes.ts'

/** What a host wrote when it compacted a session, and the episode that this becomes. */
export interface WaitingSummary {
  address: Address
  sessionId: string
  text: string
}

/**
 * The summaries still to be stored that are named, contain the text, or belong to a session that is forgotten as a
 * whole.
 *
 * @param found what is forgotten of what is stored
 * @param scope the only scope in which to forget, if there is one
 */
export function summariesToForget(
  place: MemoryPlace,
  {
    keys,
    found,
    containing,
    scope,
  }: { keys: readonly string[]; found: readonly Address[]; containing?: string; scope?: MemoryScope },
): WaitingSummary[] {
  if (scope !== undefined && scope !== 'episodic') return []
  const named = [...keys, ...found.flatMap((each) => (each.scope === 'episodic' ? each.key : []))]
  const sessions = new Set(scope ? [] : named.map((key) => sessionOf({ key })))
  return waitingSummaries(place).filter(
    ({ address, sessionId, text }) =>
      keys.includes(address.key) ||
      sessions.has(sessionId) ||
      (containing && [address.key, text].some((part) => part.includes(containing))),
  )
}

/** The summaries in the notes of sessions that are not stored yet. */
const waitingSummaries = (place: MemoryPlace): WaitingSummary[] =>
  readNotes(place).flatMap(({ sessionId, summaries = [] }) =>
    summaries.map(({ id, text }) => ({ address: addressOf(sessionId, id), sessionId, text })),
  )

/** Removes summaries from the notes of sessions; the sessions remain to be archived. */
export function dropSummaries(place: MemoryPlace, dropped: readonly WaitingSummary[]): void {
  const keys = new Set(dropped.map(({ address }) => address.key))
  for (const sessionId of new Set(dropped.map((each) => each.sessionId))) {
    withNotesLocked(place, () => {
      const session = readNote(place, sessionId)
      if (session === undefined) return
      const { summaries = [], ...rest } = session
      const left = summaries.filter(({ id }) => !keys.has(compactionKey(sessionId, id)))
      saveNote(place, { ...rest, ...(left.length > 0 ? { summaries: left } : {}) })
    })
  }
}

const addressOf = (sessionId: string, id: string): Address => ({
  scope: 'episodic',
  namespace: 'default',
  key: compactionKey(sessionId, id),
})
