import { lastAnswerMark, type MemoryManager, type SessionSummary, sessionSummaryKey } from '@recall/core'
import { fingerprint, parseInstant } from '@recall/core/text'
import { oneLine } from '../summary/clip.ts'
import { byAlgorithm } from '../summary/summarize.ts'
import type { ArchiveDigest } from './stored-archives.ts'

/** The window's entry for a session; `null` when it is not in the window. */
export const readEntry = (memory: MemoryManager, sessionId: string): Promise<SessionSummary | null> =>
  memory.read<SessionSummary>('short-term', sessionSummaryKey(sessionId))

/**
 * Date and summary of a session for the window, from its archives in order: the first summary, and the last one if a
 * model wrote it. Without a model, a summary is only what was asked at the beginning of its part, so the last answer
 * tells how the session ended.
 */
export function dateAndSummaryOf(
  archives: readonly ArchiveDigest[],
): Pick<SessionSummary, 'date' | 'summary'> {
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

/** A date that does not parse counts as the oldest. */
export const timeOf = (date: string): number => parseInstant(date) || 0

export const latestOf = (...dates: (string | undefined)[]): string | undefined =>
  dates
    .filter((date) => date !== undefined)
    .sort((a, b) => timeOf(a) - timeOf(b))
    .at(-1)

export const byDate = (a: SessionSummary, b: SessionSummary): number =>
  timeOf(a.date) - timeOf(b.date) || (a.sessionId < b.sessionId ? -1 : 1)

/**
 * Whether a person changed an entry's summary: some consecutive archives of the session have as many messages as the
 * entry, and none of these runs would be summarised like it. For an entry that is older than the archives, their
 * `windowSummary` decides.
 */
export function wasEdited(entry: SessionSummary, archives: readonly ArchiveDigest[]): boolean {
  const told = runsOf(archives).filter((run) => countMessages(run) === entry.messageCount)
  if (told.length > 0)
    return told.every((run) => dateAndSummaryOf(run).summary.trim() !== entry.summary.trim())
  const known = archives.flatMap(({ windowSummary = [] }) => windowSummary)
  return known.length > 0 && !known.includes(fingerprintOf(entry))
}

/** Fingerprint of an entry's summary, to detect later changes. */
export const fingerprintOf = ({ summary }: SessionSummary): string => fingerprint(summary.trim())

const countMessages = (archives: readonly ArchiveDigest[]): number =>
  archives.reduce((sum, { messageCount }) => sum + messageCount, 0)

/** All runs of one or more consecutive items. */
const runsOf = <T>(all: readonly T[]): T[][] =>
  all.flatMap((_, from) => all.slice(from).map((_, more) => all.slice(from, from + more + 1)))

/** Whether `a` comes from a later reading. If both end at the same time, the one with more messages is later. */
export const isOfLaterReading = (a: SessionSummary, b: SessionSummary): boolean =>
  timeOf(a.date) > timeOf(b.date) || (timeOf(a.date) === timeOf(b.date) && a.messageCount > b.messageCount)

/** Ignores `archive`, to which a store may add the name of its file, and `project`. */
export function sameEntry(a: SessionSummary, b: SessionSummary): boolean {
  return (
    timeOf(a.date) === timeOf(b.date) &&
    a.duration === b.duration &&
    a.messageCount === b.messageCount &&
    a.summary.trim() === b.summary.trim()
  )
}
