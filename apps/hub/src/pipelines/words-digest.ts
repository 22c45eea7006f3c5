import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { changeMemories } from '../trust/change-memories.ts'
import { plainWords } from './plain-words.ts'

/** A digest of an author's `plainWords`. It reveals neither the words nor whether two authors wrote the same. */
export function wordsDigest(authorId: string, content: string): string {
  return createHash('sha256')
    .update(JSON.stringify([authorId, ...plainWords(content)]))
    .digest('hex')
}

/** Days for which the digest of a deleted memory is kept. */
const digestDays = 90

/** Forgets the digests of memories that were deleted long ago. */
export async function forgetDigests(hub: Hub): Promise<void> {
  const before = new Date(hub.clock() - digestDays * 24 * 60 * 60 * 1000).toISOString()
  const isOld = sql`words_digest is not null and deleted_at < ${before}::timestamptz`
  await changeMemories(hub, sql`words_digest = null`, isOld)
}
