import type { Database } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { changeMemories } from './change-memories.ts'

/**
 * SQL for the memory that counts as the original of what a row of `memories` says, if there is one: an earlier one, or a
 * good one that was freed when that row was withdrawn.
 *
 * @param among condition on `other`
 */
export const standingFor = ({ config }: Pick<Hub, 'config'>, among: SQL): SQL => sql`(
  select other.id from memory_links l
    join memories other on other.id in (l.memory_id, l.related_id) and other.id <> memories.id
  where memories.id in (l.memory_id, l.related_id) and l.similarity >= ${config.thresholds.autoDuplicate}::real
    and other.deleted_at is null and other.quality > -2 and other.duplicate_of is null and ${among}
    and (other.quality = 0 or (other.created_at, other.id) < (memories.created_at, memories.id))
  order by other.created_at, other.id limit 1
)`

/**
 * Marks what counts by itself beside an earlier memory that says the same: as its copy it was freed while that was
 * withdrawn, or the two were written or decided about at the same moment.
 *
 * @param among condition on a link `l` of the later one
 */
export async function markCopies(hub: Hub, among: SQL): Promise<void> {
  const original = standingFor(hub, sql`(other.created_at, other.id) < (memories.created_at, memories.id)`)
  await changeMemories(
    hub,
    sql`duplicate_of = ${original}, quality = -1`,
    sql`duplicate_of is null and quality > -2 and deleted_at is null
      and id in (
        select l.memory_id from memory_links l
        where l.similarity >= ${hub.config.thresholds.autoDuplicate}::real and ${among}
      )
      and ${original} is not null`,
  )
}

/** Links copies to what they are copies of, by which they are freed when that is withdrawn. */
export const linkCopies = (database: Database, copies: SQL): Promise<unknown> =>
  database.execute(sql`
    insert into memory_links (memory_id, related_id, relation, similarity)
    select copy.id, copy.duplicate_of, 'duplicate_candidate', l.similarity
    from (select id, duplicate_of from memories where ${copies}) as copy
      join memory_links l on l.memory_id = copy.duplicate_of and l.related_id = copy.id
    on conflict do nothing`)
