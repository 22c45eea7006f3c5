import { conversationType, type Entry, MemoryError, MemoryErrorCode } from '@recall/core'
import { splitUnits } from '@recall/core/ranking'
import type { Hub } from '../hub.ts'

/** Parts of the texts in one call, each of which becomes a row: to make more would hold up other calls. */
const mostParts = 20_000

/** Postgres keeps each number of a vector in so many bytes. */
const numberBytes = 4

/**
 * Refuses entries that would be far more than they are in the body: a text is cut into parts, a conversation at each
 * heading, and a vector is kept for each part.
 *
 * @throws MemoryError QUOTA_EXCEEDED
 */
export function refuseManyParts({ config }: Pick<Hub, 'config'>, entries: readonly Entry[]): void {
  let parts = 0
  let bytes = 0
  for (const entry of entries) {
    const own = partsOf(entry)
    parts += own
    bytes += own * numberBytes * (entry.embedding?.vector.length ?? 0)
    if (parts > mostParts)
      throw tooMuch(
        `the texts of one call have at most ${mostParts} parts: each 1,600 characters are one, and each turn of a conversation`,
      )
    if (bytes > config.maxBody)
      throw tooMuch(
        `the vectors of one call hold at most ${config.maxBody} bytes, counted once for each 1,600 characters of their text`,
      )
  }
}

function partsOf({ text, type }: Entry): number {
  const isConversation = type === conversationType
  // Counted first, and no further: to cut at more of them takes seconds.
  if (isConversation && text.split(/^#{2,3} /m, mostParts + 1).length > mostParts) return mostParts + 1
  return Math.max(1, splitUnits(text, isConversation).length)
}

const tooMuch = (why: string): MemoryError =>
  new MemoryError(`${why}: send less at once`, MemoryErrorCode.QUOTA_EXCEEDED)
