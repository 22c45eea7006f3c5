import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { changeMemories } from '../trust/change-memories.ts'
import { invisible } from '../visible-text.ts'

/**
 * A digest of what an author wrote, the same however it is spaced, punctuated and capitalized. Nobody can read the words
 * in it, or tell by it whether two authors wrote the same.
 */
export function wordsDigest(authorId: string, content: string): string {
  const plain = content.replace(invisible, '').normalize('NFKD').toLowerCase()
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? []
  return createHash('sha256')
    .update(JSON.stringify([authorId, ...words]))
    .digest('hex')
}

/** Days for which it is known of a deleted memory what it said. */
const digestDays = 90

/** Forgets what memories said that were deleted long ago. */
export async function forgetDigests(hub: Hub): Promise<void> {
  const before = new Date(hub.clock() - digestDays * 24 * 60 * 60 * 1000).toISOString()
  const isOld = sql`words_digest is not null and deleted_at < ${before}::timestamptz`
  await changeMemories(hub, sql`words_digest = null`, isOld)
}
