import { rowsOf } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { changeMemories, rowsAtOnce } from './change-memories.ts'
import { counts } from './counted.ts'
import { freeCopies, withdrawn } from './freed-copies.ts'
import { markTwins } from './marked-copies.ts'
import { isOfUse } from './promotion.ts'
import { qualities } from './quality.ts'

/** Days after which a memory counts as low signal if nobody else retrieved it, cited it or said something like it. */
const unusedDays = 90

/**
 * Lowers memories that were never used, and raises those that were, except duplicates and those in quarantine.
 * Retrievals by agents that lost their trust no longer count. Copies of withdrawn memories are no longer copies.
 */
export async function recomputeQuality(hub: Hub): Promise<{ lowered: number; raised: number }> {
  const before = new Date(hub.clock() - unusedDays * 24 * 60 * 60 * 1000).toISOString()
  await forgetRetrievals(hub)
  const lowered = await changeMemories(
    hub,
    sql`quality = ${qualities.lowSignal}`,
    sql`quality = ${qualities.good} and retrieval_count = 0 and created_at < ${before}::timestamptz and deleted_at is null
      -- Apart, for a join with each: with an "or" each memory is looked up in the links.
      and not exists (
        select from memory_links l ${linkedByOther('l.related_id')} where l.memory_id = memories.id and ${isOfOther}
      )
      and not exists (
        select from memory_links l ${linkedByOther('l.memory_id')} where l.related_id = memories.id and ${isOfOther}
      )
      and not exists (
        select from citations c join agents a on a.id = c.agent_id
        where c.memory_id = memories.id and ${counts('a')}
      )`,
  )
  const raised = await changeMemories(
    hub,
    sql`quality = ${qualities.good}`,
    sql`${isOfUse} and agent_id in (select id from agents where trust_level > 0)`,
  )
  await markTwins(hub)
  // Marks from before a deletion or a quarantine freed the copies.
  const freed = await freeCopies(hub, withdrawn)
  return { lowered, raised: raised + freed }
}

/** Joins a memory that is linked, and its author. */
const linkedByOther = (linked: string): SQL =>
  sql`join memories other on other.id = ${sql.raw(linked)} join agents a on a.id = other.agent_id`

/** Like a citation, a link counts by what a trusted agent other than the author wrote. */
const isOfOther = sql`other.agent_id <> memories.agent_id and ${counts('a')}`

/**
 * Retrievals by agents in quarantine, or set to tier 0 by hand, no longer count. Of those whose question is forgotten,
 * nothing remains. A later retrieval counts again once such an agent is trusted again.
 */
async function forgetRetrievals({ database, call }: Hub): Promise<void> {
  for (;;) {
    const events = await call(() =>
      rowsOf(
        database,
        sql`
          with chosen as (
            select r.id from agents a join retrieval_events r on r.agent_id = a.id and r.counted
            where a.disabled_at is not null or a.trust_level = 0 and a.held_back limit ${rowsAtOnce}
          ), uncounted as (
            update retrieval_events set counted = false
            where counted and query <> '' and id in (select id from chosen) returning memory_id
          ), deleted as (
            delete from retrieval_events where counted and query = '' and id in (select id from chosen)
            returning memory_id
          ), gone as (
            select memory_id from uncounted union all select memory_id from deleted
          ), lessened as (
            update memories set retrieval_count = greatest(0, retrieval_count - agents)
            from (
              select m.id, agents from memories m join (
                select memory_id, count(*) as agents from gone group by memory_id
              ) as lost on lost.memory_id = m.id order by m.id for no key update of m
            ) as locked where memories.id = locked.id
          )
          select from gone`,
      ),
    )
    if (events.length < rowsAtOnce) return
  }
}
