import {
  type ConversationArchive,
  conversationKey,
  conversationType,
  type MemoryManager,
  refuseUnknownOptions,
} from '@recall/core'
import { parseInstant } from '@recall/core/text'
import { parseMaxEntries } from '../options.ts'
import { saysNothing } from '../summary/summarize.ts'
import { formatDuration, parseDuration } from './duration.ts'
import { digestOf, readArchive } from './stored-archives.ts'
import { addToWindow, newestKnown } from './window.ts'
import { dateAndSummaryOf, projectOf, timeOf } from './window-entry.ts'

/** How many of the latest archives are searched. */
const candidates = 20

/**
 * Adds the newest archived session to the window if it is missing there, because the session ended before its summary
 * was written or only a checkpoint of it was saved. Sessions that were consumed do not come back, and sessions in which
 * nobody said more than commands never enter.
 *
 * @returns the session's id, or `null` when there was nothing to recover
 * @throws MemoryError INVALID_INPUT unless `maxEntries` is 1..50, and for an unknown option
 */
export async function recoverWindow(
  memory: MemoryManager,
  options: { maxEntries?: number | undefined } = {},
): Promise<string | null> {
  const { maxEntries: asked, ...others } = options
  refuseUnknownOptions(others)
  const maxEntries = parseMaxEntries(asked)
  const known = await newestKnown(memory)
  const found = await memory.search<ConversationArchive>(
    'episodic',
    {
      filters: { type: conversationType, ...ofNoHelper, ...(known === null ? {} : endedSince(known)) },
    },
    { limit: candidates, touch: false, sortBy: 'recency' },
  )
  const later = found
    .map(({ value }) => value)
    .filter(({ date }) => known === null || timeOf(date) > timeOf(known))
  for (const newest of later.sort(latestFirst)) {
    const archives = await partsUpTo(memory, newest)
    const digests = archives.map(digestOf)
    if (digests.every(({ summary }) => saysNothing(summary))) continue
    const outcome = await addToWindow(
      memory,
      {
        sessionId: newest.sessionId,
        ...dateAndSummaryOf(digests),
        duration: durationOf(archives),
        messageCount: archives.reduce((sum, { messageCount }) => sum + messageCount, 0),
        archive: conversationKey(newest.sessionId),
        ...projectOf(newest),
      },
      { maxEntries, before: digests },
    )
    return outcome === 'added' || outcome === 'updated' ? newest.sessionId : null
  }
  return null
}

/** The parts of a session without times end at the same time: then the last part comes first. */
const latestFirst = (a: ConversationArchive, b: ConversationArchive): number =>
  timeOf(b.date) - timeOf(a.date) || (b.part ?? 1) - (a.part ?? 1)

const dayMs = 24 * 60 * 60 * 1000

/**
 * Filters compare dates as texts, which sort like instants only if all are written alike. This lets through dates since
 * then and, among dates with another offset from UTC, whose texts may differ by up to a day, a few earlier ones.
 */
function endedSince(date: string) {
  const textOf = (time: number): string => new Date(time).toISOString()
  const since = timeOf(date)
  return {
    $or: [{ date: { gt: textOf(since) } }, { date: { gte: textOf(since - dayMs), not: { contains: 'Z' } } }],
  }
}

/** A helper's conversation has the id `<session id>/<helper id>`. */
const ofNoHelper = { sessionId: { not: { contains: '/' } } }

async function partsUpTo(memory: MemoryManager, last: ConversationArchive): Promise<ConversationArchive[]> {
  const parts: ConversationArchive[] = []
  for (let number = 1; number < (last.part ?? 1); number++) {
    const part = await readArchive(memory, conversationKey(last.sessionId, number))
    if (part !== null) parts.push(part.value)
  }
  return [...parts, last]
}

function durationOf(archives: readonly ConversationArchive[]): string {
  const [first, last] = [archives[0], archives.at(-1)]
  if (first === undefined || last === undefined) return 'unknown'
  const began = parseInstant(first.date) - (parseDuration(first.duration) ?? Number.NaN)
  const length = parseInstant(last.date) - began
  return Number.isNaN(length) ? last.duration : formatDuration(length)
}
