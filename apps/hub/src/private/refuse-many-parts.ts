import { conversationType, type Entry, MemoryError, MemoryErrorCode } from '@recall/core'
import { splitUnits } from '@recall/core/ranking'
import type { Hub } from '../hub.ts'

/** Most parts of the texts in one call. Each part becomes a row: making more would hold up other calls. */
const mostParts = 20_000

/** Bytes in which Postgres keeps each number of a vector. */
const numberBytes = 4

/**
 * Refuses entries that take far more room than they do in the body: a text is cut into parts, a conversation at each
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
        `the texts of one call have at most ${mostParts} parts: every 1,600 characters and every turn of a conversation is one`,
      )
    if (bytes > config.maxBody)
      throw tooMuch(
        `the vectors of one call hold at most ${config.maxBody} bytes, counted once for every 1,600 characters of their text`,
      )
  }
}

function partsOf({ text, type }: Entry): number {
  const isConversation = type === conversationType
  // Counted first, and only up to the limit: cutting at more headings takes seconds.
  if (isConversation && text.split(/^#{2,3} /m, mostParts + 1).length > mostParts) return mostParts + 1
  return Math.max(1, splitUnits(text, isConversation).length)
}

const tooMuch = (why: string): MemoryError =>
  new MemoryError(`${why}: send less at once`, MemoryErrorCode.QUOTA_EXCEEDED)
