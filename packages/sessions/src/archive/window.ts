import { type MemoryManager, type SessionSummary, sessionSummaryKey, sessionSummaryType } from '@recall/core'
import { readConsumed, wasGiven } from './consumed-marker.ts'
import { keepEdit } from './keep-edit.ts'
import type { ArchiveDigest } from './stored-archives.ts'
import { byDate, isOfLaterReading, latestOf, sameEntry, timeOf, wasEdited } from './window-entry.ts'

/**
 * - `added`, `updated`, `present`: the session is in the window
 * - `older`: the window is full of later sessions
 * - `consumed`: the window was emptied after this session ended; if it has just ended, with this session in it
 */
export type WindowOutcome = 'added' | 'updated' | 'present' | 'older' | 'consumed'

/** The sessions in the rolling window, newest last. */
export async function readWindow(memory: MemoryManager): Promise<SessionSummary[]> {
  const found = await memory.search<SessionSummary>(
    'short-term',
    { filters: { type: sessionSummaryType } },
    { limit: 1000, touch: false },
  )
  return found.map(({ value }) => value).sort(byDate)
}

/**
 * Adds a session to the window and removes the oldest beyond `maxEntries`. An old session never pushes out a newer
 * one, and a session that was consumed does not come back.
 *
 * @param options.justEnded see `ArchiveOptions`
 * @param options.before digests of the session's archives before this change. If the window's summary of the same
 * messages differs from theirs, a person edited it, and it stays
 */
export async function addToWindow(
  memory: MemoryManager,
  session: SessionSummary,
  options: { maxEntries: number; justEnded?: boolean; before?: readonly ArchiveDigest[] },
): Promise<WindowOutcome> {
  const { maxEntries, justEnded = false, before = [] } = options
  const present = await readWindow(memory)
  const earlier = present.find(({ sessionId }) => sessionId === session.sessionId)
  const isEdited = earlier !== undefined && wasEdited(earlier, before)
  const entry = isEdited ? { ...session, summary: earlier.summary } : session
  const marker = await readConsumed(memory)
  const endedBefore = marker !== null && timeOf(entry.date) <= timeOf(marker.date)
  const isConsumed = endedBefore && (!justEnded || wasGiven(marker, entry))
  if (isConsumed && earlier === undefined) return 'consumed'

  if (earlier !== undefined && isOfLaterReading(earlier, entry)) return 'present'

  const others = present.filter(({ sessionId }) => sessionId !== entry.sessionId)
  const newest = idsOf([...others, entry].sort(byDate).slice(-maxEntries))
  const isSame = earlier !== undefined && sameEntry(earlier, entry)
  if (isSame || !newest.has(entry.sessionId)) {
    await removeExcept(memory, present, newest)
    return newest.has(entry.sessionId) ? 'present' : 'older'
  }
  // Writes before it removes: a crash in between leaves one entry too many, never one too few.
  await memory.write('short-term', sessionSummaryKey(entry.sessionId), entry, {
    type: sessionSummaryType,
    ttl: Number.POSITIVE_INFINITY,
  })
  // Others may have added sessions since it was read. The last writer sees them all, and so leaves no more than
  // allowed.
  const now = await readWindow(memory)
  const survivors = idsOf(now.slice(-maxEntries))
  await removeExcept(memory, now, survivors)
  if (!survivors.has(entry.sessionId)) return 'older'
  return earlier === undefined ? 'added' : 'updated'
}

const idsOf = (entries: readonly SessionSummary[]): ReadonlySet<string> =>
  new Set(entries.map(({ sessionId }) => sessionId))

async function removeExcept(
  memory: MemoryManager,
  entries: readonly SessionSummary[],
  kept: ReadonlySet<string>,
): Promise<void> {
  for (const entry of entries.filter(({ sessionId }) => !kept.has(sessionId))) {
    await keepEdit(memory, entry)
    await memory.delete('short-term', sessionSummaryKey(entry.sessionId))
  }
}

/** End of the newest session that is in the window or was consumed from it, ISO 8601; `null` when there is none. */
export async function newestKnown(memory: MemoryManager): Promise<string | null> {
  const marker = await readConsumed(memory)
  const newest = (await readWindow(memory)).at(-1)
  return latestOf(marker?.date, newest?.date) ?? null
}
