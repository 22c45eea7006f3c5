import {
  type AtomicUpdate,
  type Clock,
  type MemoryManager,
  type SessionSummary,
  sessionSummaryKey,
  sessionSummaryType,
  systemClock,
  windowNotesKey,
} from '@recall/core'
import { oneLine } from './clip.ts'
import { parseMaxEntries } from './options.ts'
import type { ArchiveDigest } from './place-part.ts'
import { renderWindow } from './render-window.ts'
import { byAlgorithm } from './summarize.ts'

const consumedKey = 'session-window:consumed'
const consumedType = 'session-window'

/** Remembers up to which session the window was read and emptied. */
interface ConsumedMarker {
  /** When that happened, ISO 8601. */
  at: string
  /** End of the newest session that was in it, ISO 8601. */
  date: string
}

/**
 * - `added`, `updated`, `present`: the session is in the window
 * - `older`: so many later sessions are in it that there is no room
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
 * Enters a session in the window and removes the oldest beyond `maxEntries`. An old session never pushes
 * out a newer one, and what was consumed does not come back.
 *
 * @param options.before what the session's archives said until now: where the window tells the same messages in other
 * words, a person changed it, and the summary stays
 * @throws MemoryError INVALID_INPUT unless `maxEntries` is 1..50
 */
export async function addToWindow(
  memory: MemoryManager,
  told: SessionSummary,
  options: { maxEntries: number; before?: readonly ArchiveDigest[] },
): Promise<WindowOutcome> {
  const maxEntries = parseMaxEntries(options.maxEntries)
  const present = await readWindow(memory)
  const earlier = present.find(({ sessionId }) => sessionId === told.sessionId)
  const isEdited = earlier !== undefined && wasEdited(earlier, options.before ?? [])
  const entry = isEdited ? { ...told, summary: earlier.summary } : told
  const marker = await memory.read<ConsumedMarker>('short-term', consumedKey)
  const isConsumed = marker !== null && timeOf(entry.date) <= timeOf(marker.date)
  if (isConsumed && earlier === undefined) return 'consumed'

  if (earlier !== undefined && isOfLaterReading(earlier, entry)) return 'present'

  const others = present.filter(({ sessionId }) => sessionId !== entry.sessionId)
  const survivors = [...others, entry].sort(byDate).slice(-maxEntries)
  const isKept = survivors.includes(entry)
  const isSame = earlier !== undefined && sameEntry(earlier, entry)
  // Written before anything is removed: a crash in between leaves one entry too many, never one too few.
  if (isKept && !isSame) {
    await memory.write('short-term', sessionSummaryKey(entry.sessionId), entry, {
      type: sessionSummaryType,
      ttl: Number.POSITIVE_INFINITY,
    })
  }
  for (const { sessionId } of present) {
    if (!survivors.some((survivor) => survivor.sessionId === sessionId)) {
      await memory.delete('short-term', sessionSummaryKey(sessionId))
    }
  }
  if (!isKept) return 'older'
  return isSame ? 'present' : earlier === undefined ? 'added' : 'updated'
}

/**
 * What the window says of a session, told by its archives in order: how it began and, when a model said so,
 * how it ended. Without a model a later part's summary is just whatever was said where the part begins.
 */
export function spanOf(archives: readonly ArchiveDigest[]): Pick<SessionSummary, 'date' | 'summary'> {
  const [first, last] = [archives[0], archives.at(-1)]
  const ending = last?.summarizedBy === byAlgorithm ? undefined : last?.summary
  const summaries = new Set([first?.summary, ending].filter((summary) => summary))
  return { date: last?.date ?? '', summary: [...summaries].join('\n\n') }
}

/** As it stands in the window, on one line. */
export function projectOf({ project = '' }: { project?: string | undefined }): { project?: string } {
  const line = oneLine(project)
  return line === '' ? {} : { project: line }
}

export interface SeenWindow {
  entries: SessionSummary[]
  /** What was written into it by hand. */
  notes?: string | undefined
}

export interface ConsumedWindow extends SeenWindow {
  /** The window as markdown; empty when there is nothing in it. */
  text: string
}

/**
 * The window's text for an agent that begins a session. With `clear` it is emptied of what was read.
 *
 * @param options.clock stamps the marker
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
 * Removes what was read from the window, in the same step that marks it as consumed; what is added or changed meanwhile
 * stays. The sessions are archived; what was written by hand becomes an episode.
 */
export async function clearWindow(
  memory: MemoryManager,
  { entries, notes }: SeenWindow,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<void> {
  const at = new Date(clock()).toISOString()
  const isRead = notes !== undefined && (await memory.read('short-term', windowNotesKey)) === notes
  if (isRead)
    await memory.write('episodic', `window:${at}`, notes, {
      type: 'note',
      tags: ['window'],
      overwrite: false,
    })
  const gone = [
    ...entries.map(({ sessionId }) => sessionSummaryKey(sessionId)),
    ...(isRead ? [windowNotesKey] : []),
  ]
  if (gone.length === 0) return
  const newest = entries.at(-1)
  const before = await memory.read<ConsumedMarker>('short-term', consumedKey)
  const dates = [before?.date, newest?.date].filter((date) => date !== undefined)
  const date = dates.sort((a, b) => timeOf(a) - timeOf(b)).at(-1)
  const marker: AtomicUpdate[] =
    date === undefined
      ? []
      : [
          {
            operation: 'set',
            key: consumedKey,
            value: { at, date } satisfies ConsumedMarker,
            options: { type: consumedType, ttl: Number.POSITIVE_INFINITY, index: false },
          },
        ]
  await memory.atomicUpdate('short-term', [
    ...marker,
    ...gone.map((key) => ({ operation: 'delete' as const, key })),
  ])
}

/** End of the newest session that the window knows of, in it or consumed; `null` when it knows of none. */
export async function newestKnown(memory: MemoryManager): Promise<string | null> {
  const marker = await memory.read<ConsumedMarker>('short-term', consumedKey)
  const newest = (await readWindow(memory)).at(-1)
  const dates = [marker?.date, newest?.date].filter((date) => date !== undefined)
  return dates.sort((a, b) => timeOf(a) - timeOf(b)).at(-1) ?? null
}

/** A date that does not parse counts as the oldest. */
const timeOf = (date: string): number => Date.parse(date) || 0

const byDate = (a: SessionSummary, b: SessionSummary): number =>
  timeOf(a.date) - timeOf(b.date) || (a.sessionId < b.sessionId ? -1 : 1)

const wasEdited = (entry: SessionSummary, archives: readonly ArchiveDigest[]): boolean =>
  entry.messageCount === archives.reduce((sum, { messageCount }) => sum + messageCount, 0) &&
  entry.summary.trim() !== spanOf(archives).summary.trim()

/** Both may tell the same end, since one archive stands behind them: then the one that counts more messages has read further. */
const isOfLaterReading = (a: SessionSummary, b: SessionSummary): boolean =>
  timeOf(a.date) > timeOf(b.date) || (timeOf(a.date) === timeOf(b.date) && a.messageCount > b.messageCount)

/** A store may add its file to the pointer; the rest decides. */
function sameEntry(a: SessionSummary, b: SessionSummary): boolean {
  return (
    timeOf(a.date) === timeOf(b.date) &&
    a.duration === b.duration &&
    a.messageCount === b.messageCount &&
    a.summary.trim() === b.summary.trim()
  )
}
