import { lastAnswerMark, type MemoryManager, type SessionSummary, sessionSummaryKey } from '@recall/core'
import { fingerprint, parseInstant } from '@recall/core/text'
import { oneLine } from '../summary/clip.ts'
import { byAlgorithm } from '../summary/summarize.ts'
import type { ArchiveDigest } from './place-part.ts'

/** What the window holds of a session; `null` when that is not in it. */
export const readEntry = (memory: MemoryManager, sessionId: string): Promise<SessionSummary | null> =>
  memory.read<SessionSummary>('short-term', sessionSummaryKey(sessionId))

/**
 * Date and summary of a session for the window, from its archives in order: the first summary, and the last one if a
 * model wrote it. Without a model, a summary is only what was asked where its part begins: how the session ended, the
 * last answer tells.
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
 * Whether a person changed an entry's summary: it is of as many messages as some of the session's archives, one after
 * the other, and none of these would be summarised so. Of an entry that is older than the archives, they say themselves
 * what its summary was.
 */
export function wasEdited(entry: SessionSummary, archives: readonly ArchiveDigest[]): boolean {
  const told = runsOf(archives).filter((run) => countMessages(run) === entry.messageCount)
  if (told.length > 0)
    return told.every((run) => dateAndSummaryOf(run).summary.trim() !== entry.summary.trim())
  const known = archives.flatMap(({ windowSummary = [] }) => windowSummary)
  return known.length > 0 && !known.includes(fingerprintOf(entry))
}

/** Of an entry's summary, to tell later whether it has changed. */
export const fingerprintOf = ({ summary }: SessionSummary): string => fingerprint(summary.trim())

const countMessages = (archives: readonly ArchiveDigest[]): number =>
  archives.reduce((sum, { messageCount }) => sum + messageCount, 0)

/** All series of one or more that stand one after the other. */
const runsOf = <T>(all: readonly T[]): T[][] =>
  all.flatMap((_, from) => all.slice(from).map((_, more) => all.slice(from, from + more + 1)))

/** Whether `a` comes from a later reading. Both may have the same end: then the one with more messages has read on. */
export const isOfLaterReading = (a: SessionSummary, b: SessionSummary): boolean =>
  timeOf(a.date) > timeOf(b.date) || (timeOf(a.date) === timeOf(b.date) && a.messageCount > b.messageCount)

/** Compares neither `archive`, to which a store may add the name of its file, nor `project`. */
export function sameEntry(a: SessionSummary, b: SessionSummary): boolean {
  return (
    timeOf(a.date) === timeOf(b.date) &&
    a.duration === b.duration &&
    a.messageCount === b.messageCount &&
    a.summary.trim() === b.summary.trim()
  )
}
