import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'

/**
 * Unverified agents become trusted when trusted ones have retrieved enough of their memories, and none was ever
 * put in quarantine. Their memories that were of use then count as normal.
 *
 * @param candidates agents to look at; without it all
 */
export async function promoteAuthors(hub: Hub, candidates?: readonly string[]): Promise<void> {
  const { usefulMemories, retrievers } = hub.config.trust
  const among: SQL = candidates
    ? sql`a.id in (${sql.join(
        candidates.map((id) => sql`${id}::uuid`),
        sql`, `,
      )})`
    : sql`true`
  if (candidates?.length === 0) return
  await hub.call(() =>
    hub.database.execute(sql`
      with promoted as (
        update agents a set trust_level = 1
        where a.trust_level = 0 and a.disabled_at is null and a.quarantines = 0 and ${among}
          and (
            select count(*) from memories m
            where m.agent_id = a.id and m.retrieval_count > 0 and m.deleted_at is null and m.duplicate_of is null
          ) >= ${usefulMemories}
          and (
            select count(distinct r.agent_id) from retrieval_events r join memories m on m.id = r.memory_id
            where m.agent_id = a.id and r.counted
          ) >= ${retrievers}
        returning a.id
      )
      update memories set quality = 0
      where quality = -1 and retrieval_count > 0 and duplicate_of is null and agent_id in (select id from promoted)`),
  )
}
