import {
  type AtomicUpdate,
  type Clock,
  conversationKey,
  editedSummaryKey,
  fingerprint,
  isMemoryError,
  lastAnswerMark,
  MemoryErrorCode,
  type MemoryManager,
  parseInstant,
  type SessionSummary,
  sessionSummaryKey,
  sessionSummaryType,
  systemClock,
  windowNotesKey,
  windowNoteType,
} from '@recall/core'
import { oneLine } from '../summary/clip.ts'
import { byAlgorithm } from '../summary/summarize.ts'
import { notAhead } from './not-ahead.ts'
import { type ArchiveDigest, digestOf, readStored } from './place-part.ts'
import { renderSessionSummary, renderWindow } from './render-window.ts'

const consumedKey = 'session-window:consumed'
const consumedType = 'session-window'
/** Of episodes that a person wrote into the window. */
const noteOptions = { type: windowNoteType, tags: ['window'] }

/** Records up to which session the window was read and emptied. */
interface ConsumedMarker {
  /** When the window was emptied, ISO 8601. */
  at: string
  /** End of the newest session that was in it, ISO 8601. */
  date: string
}

/**
 * - `added`, `updated`, `present`: the session is in the window
 * - `older`: the window is full of later sessions
 * - `consumed`: the window was emptied after this session ended
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
 * @param options.before digests of the session's archives before this change. If the window's summary of the same
 * messages differs from theirs, a person edited it, and it stays
 */
export async function addToWindow(
  memory: MemoryManager,
  session: SessionSummary,
  { maxEntries, before = [] }: { maxEntries: number; before?: readonly ArchiveDigest[] },
): Promise<WindowOutcome> {
  const present = await readWindow(memory)
  const earlier = present.find(({ sessionId }) => sessionId === session.sessionId)
  const isEdited = earlier !== undefined && wasEdited(earlier, before)
  const entry = isEdited ? { ...session, summary: earlier.summary } : session
  const marker = await memory.read<ConsumedMarker>('short-term', consumedKey)
  const isConsumed = marker !== null && timeOf(entry.date) <= timeOf(marker.date)
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
  // Others may have added sessions since it was read. Whoever writes last sees them all, and so leaves no more.
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
    await keepEdit(memory, entry, await archivesOf(memory, entry.sessionId))
    await memory.delete('short-term', sessionSummaryKey(entry.sessionId))
  }
}

/** Makes an episode of a summary that a person changed, before it leaves the window: no archive holds it. */
async function keepEdit(
  memory: MemoryManager,
  entry: SessionSummary,
  archives: readonly ArchiveDigest[],
): Promise<void> {
  if (!wasEdited(entry, archives)) return
  // The same text has the same key: after a crash it is not kept twice.
  const key = editedSummaryKey(entry.sessionId, fingerprint(entry.summary))
  await memory.write('episodic', key, renderSessionSummary(entry), noteOptions)
}

/**
 * Keeps a summary that a person changed while its archives are at hand: once they are replaced, nobody can tell that it
 * was changed.
 *
 * @param before digests of the session's archives before this change
 */
export async function keepEditOf(
  memory: MemoryManager,
  sessionId: string,
  before: readonly ArchiveDigest[],
): Promise<void> {
  const entry = await memory.read<SessionSummary>('short-term', sessionSummaryKey(sessionId))
  if (entry !== null) await keepEdit(memory, entry, before)
}

async function archivesOf(memory: MemoryManager, sessionId: string): Promise<ArchiveDigest[]> {
  const archives: ArchiveDigest[] = []
  for (let number = 1; ; number++) {
    const record = await readStored(memory, conversationKey(sessionId, number))
    if (record === null) return archives
    archives.push(digestOf(record.value))
  }
}

/**
 * Date and summary of a session for the window, from its archives in order: the first summary, and the last one if a
 * model wrote it. Without a model, a summary is only what was asked where its part begins: how the session ended, the
 * last answer tells.
 */
export function spanOf(archives: readonly ArchiveDigest[]): Pick<SessionSummary, 'date' | 'summary'> {
  const [first, last] = [archives[0], archives.at(-1)]
  const ending = last?.summarizedBy === byAlgorithm ? answerOf(last) : last?.summary
  const summaries = new Set([first?.summary, ending].filter((summary) => summary))
  return { date: last?.date ?? '', summary: [...summaries].join('\n\n') }
}

const answerOf = ({ summary, lastAnswer }: ArchiveDigest): string =>
  lastAnswer === '' || lastAnswer === summary ? '' : `${lastAnswerMark}${lastAnswer}`

/** The project as the window shows it, on one line; absent when it is empty. */
export function projectOf({ project = '' }: { project?: string | undefined }): { project?: string } {
  const line = oneLine(project)
  return line === '' ? {} : { project: line }
}

export interface SeenWindow {
  entries: SessionSummary[]
  /** Handwritten notes in the window. */
  notes?: string | undefined
}

export interface ConsumedWindow extends SeenWindow {
  /** The window as markdown; empty when there is nothing in it. */
  text: string
}

/**
 * The window's text for an agent that begins a session. With `clear`, what was read is removed from the window.
 *
 * @param options.clock dates the marker of what was consumed
 */
export async function consumeWindow(
  memory: MemoryManager,
  options: { clear?: boolean; clock?: Clock } = {},
): Promise<ConsumedWindow> {
  const entries = await readWindow(memory)
  const notes = (await memory.read<string>('short-term', windowNotesKey)) ?? undefined
  if (options.clear) await clearWindow(memory, { entries, notes }, options)
  return { text: renderWindow(entries, notes), entries, notes }
}

/**
 * Removes from the window the sessions and notes that were read, and marks them as consumed in the same step. Sessions
 * that were added since stay, and so do sessions that changed before this call and notes that changed until they would
 * go. The sessions remain in their archives; the notes become an episode, and so does a summary that a person changed.
 */
export async function clearWindow(
  memory: MemoryManager,
  { entries, notes }: SeenWindow,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<void> {
  const now = clock()
  const isRead = notes !== undefined && (await memory.read('short-term', windowNotesKey)) === notes
  // As with an edit, the same text has the same key.
  if (isRead) await memory.write('episodic', `window:${fingerprint(notes)}`, notes, noteOptions)
  const seen = { entries, notes: isRead ? notes : undefined }
  for (let attempt = 1; ; attempt++) {
    try {
      await removeSeen(memory, seen, now)
      return
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT) || attempt === attempts) throw error
    }
  }
}

/** How often a window is looked at anew whose notes are written while it is cleared. */
const attempts = 5

/** @throws MemoryError CONFLICT when the notes were written since they were looked at */
async function removeSeen(memory: MemoryManager, { entries, notes }: SeenWindow, now: number): Promise<void> {
  const record = await memory.read<string>('short-term', windowNotesKey, { includeMetadata: true })
  const kept = record !== null && record.value === notes ? record.metadata.updatedAt : undefined
  const present = await readWindow(memory)
  const unchanged = entries.filter((entry) => {
    const current = present.find(({ sessionId }) => sessionId === entry.sessionId)
    return current === undefined || sameEntry(current, entry)
  })
  if (unchanged.length === 0 && kept === undefined) return
  for (const entry of unchanged) await keepEdit(memory, entry, await archivesOf(memory, entry.sessionId))
  const before = await memory.read<ConsumedMarker>('short-term', consumedKey)
  const dates = [before?.date, ...unchanged.map(({ date }) => date)]
  const date = latestOf(...dates.map((each) => each && notAhead(each, now)))
  await memory.atomicUpdate('short-term', [
    ...(date === undefined ? [] : [markConsumed({ at: new Date(now).toISOString(), date })]),
    ...unchanged.map(({ sessionId }) => deletionOf(sessionSummaryKey(sessionId))),
    ...(kept === undefined ? [] : [{ ...deletionOf(windowNotesKey), ifUpdatedAt: kept }]),
  ])
}

const deletionOf = (key: string) => ({ operation: 'delete', key }) as const

const markConsumed = (marker: ConsumedMarker): AtomicUpdate => ({
  operation: 'set',
  key: consumedKey,
  value: marker,
  options: { type: consumedType, ttl: Number.POSITIVE_INFINITY, index: false },
})

/** End of the newest session that is in the window or was consumed from it, ISO 8601; `null` when there is none. */
export async function newestKnown(memory: MemoryManager): Promise<string | null> {
  const marker = await memory.read<ConsumedMarker>('short-term', consumedKey)
  const newest = (await readWindow(memory)).at(-1)
  return latestOf(marker?.date, newest?.date) ?? null
}

const latestOf = (...dates: (string | undefined)[]): string | undefined =>
  dates
    .filter((date) => date !== undefined)
    .sort((a, b) => timeOf(a) - timeOf(b))
    .at(-1)

/** A date that does not parse counts as the oldest. */
export const timeOf = (date: string): number => parseInstant(date) || 0

const byDate = (a: SessionSummary, b: SessionSummary): number =>
  timeOf(a.date) - timeOf(b.date) || (a.sessionId < b.sessionId ? -1 : 1)

/** Whether an entry tells the same messages as some of the session's archives, one after the other, in other words. */
function wasEdited(entry: SessionSummary, archives: readonly ArchiveDigest[]): boolean {
  const told = archives
    .flatMap((_, from) => archives.slice(from).map((_, length) => archives.slice(from, from + length + 1)))
    .filter((run) => run.reduce((sum, { messageCount }) => sum + messageCount, 0) === entry.messageCount)
  return told.length > 0 && told.every((run) => spanOf(run).summary.trim() !== entry.summary.trim())
}

/** Whether `a` comes from a later reading. Both may have the same end: then the one with more messages has read on. */
const isOfLaterReading = (a: SessionSummary, b: SessionSummary): boolean =>
  timeOf(a.date) > timeOf(b.date) || (timeOf(a.date) === timeOf(b.date) && a.messageCount > b.messageCount)

/** Compares neither `archive`, to which a store may add the name of its file, nor `project`. */
function sameEntry(a: SessionSummary, b: SessionSummary): boolean {
  return (
    timeOf(a.date) === timeOf(b.date) &&
    a.duration === b.duration &&
    a.messageCount === b.messageCount &&
    a.summary.trim() === b.summary.trim()
  )
}
