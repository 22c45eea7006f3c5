import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'

/** From this many near-duplicates by the same agent on, a memory counts as a template. */
export const templateCopies = 5

/** Selects tombstones. */
export const tombstones = sql`select id from memories where deleted_at is not null`

/**
 * Condition on `memories`: of low signal, a copy of deleted ones and of nothing else. As a new memory it would be no low
 * signal, so without them it is none either.
 *
 * @param deleted selects the ids of the deleted memories
 */
export const repeatsOnly = ({ config: { thresholds } }: Pick<Hub, 'config'>, deleted: SQL): SQL => sql`
  memories.quality = -1 and memories.deleted_at is null
  and memories.agent_id in (select a.id from agents a where a.trust_level > 0)
  and memories.id in (
    select l.memory_id from memory_links l
    where l.related_id in (${deleted}) and l.similarity >= ${thresholds.autoDuplicate}::real
  )
  and not exists (
    select from memory_links l join memories other on other.id = l.related_id
    where l.memory_id = memories.id and l.similarity >= ${thresholds.autoDuplicate}::real
      and other.deleted_at is null and other.quality > -2 and other.id not in (${deleted})
  )
  and (
    select count(*) from memory_links l join memories other on other.id = l.related_id
    where l.memory_id = memories.id and l.relation = 'duplicate_candidate' and other.agent_id = memories.agent_id
      and other.deleted_at is null and other.id not in (${deleted})
  ) < ${templateCopies}`
