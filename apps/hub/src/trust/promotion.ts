import { type Database, rowsOf } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { HubParts } from '../hub.ts'
import { counts } from './counted.ts'
import { qualities } from './quality.ts'

/** Days for which a vouch counts against the limit of the agent that gave it. */
const vouchDays = 30

/**
 * Key of the advisory lock that serializes promotions, so that no agent exceeds its vouches; any number not used
 * otherwise.
 */
const promotionLock = 727_001

/**
 * Promotes unverified agents to trusted when settled agents have retrieved enough of their memories and none of their
 * memories was ever put in quarantine, unless an administrator held them back. Their retrieved memories then count as
 * normal.
 *
 * An agent is settled if an administrator trusts it, or if it was promoted long enough ago. Each agent vouches for a
 * few others at most, so a ring that got one member in cannot pull in the rest.
 *
 * @param candidates ids of the agents to check. Default: all
 */
export async function promoteAuthors(hub: HubParts, candidates?: readonly string[]): Promise<void> {
  if (candidates?.length === 0) return
  const among: SQL = candidates
    ? sql`a.id in (${sql.join(
        candidates.map((id) => sql`${id}::uuid`),
        sql`, `,
      )})`
    : sql`true`
  const ready = await hub.call(() =>
    rowsOf<{ id: string }>(
      hub.database,
      sql`
        select a.id from agents a
        where ${mayBePromoted(hub)} and ${among}
        order by a.created_at`,
    ),
  )
  for (const { id } of ready) {
    const isPromoted = await hub.call(() =>
      hub.database.transaction((transaction) => promote(hub, transaction, id)),
    )
    if (isPromoted) hub.auth.forget()
  }
}

async function promote(hub: HubParts, transaction: Database, id: string): Promise<boolean> {
  const { retrievers, vouches } = hub.config.trust
  const now = nowOf(hub)
  await transaction.execute(sql`select pg_advisory_xact_lock(${promotionLock})`)
  const speakers = await rowsOf<{ id: string }>(
    transaction,
    sql`
      select agent_id as id from (${retrievalsBySettled(hub, sql`${id}::uuid`)}) as useful
      where (
        select count(*) from vouches v
        where v.voucher_id = useful.agent_id and v.created_at > ${now} - make_interval(days => ${vouchDays})
      ) < ${vouches}
      group by agent_id order by min(created_at), agent_id limit ${retrievers}`,
  )
  if (speakers.length < retrievers) return false
  // The conditions are checked again: the agent may have been put in quarantine meanwhile, or its memories deleted.
  const promoted = await rowsOf(
    transaction,
    sql`
    with promoted as (
      update agents as a set trust_level = 1, promoted_at = ${now} where id = ${id}::uuid and ${mayBePromoted(hub)}
      returning id
    ), raised as (
      update memories set quality = ${qualities.good} where ${isOfUse} and agent_id in (select id from promoted)
    ), spoken as (
      insert into vouches (agent_id, voucher_id, created_at)
      select promoted.id, voucher::uuid, ${now}
      from promoted, jsonb_array_elements_text(${JSON.stringify(speakers.map((speaker) => speaker.id))}::text::jsonb) as voucher
      on conflict (agent_id, voucher_id) do update set created_at = excluded.created_at
    )
    select id from promoted`,
  )
  return promoted.length > 0
}

/** Condition on `memories`: of low signal, but retrieved by others. Once its author is trusted, it counts as normal. */
export const isOfUse = sql`quality = ${qualities.lowSignal} and retrieval_count > 0 and duplicate_of is null and deleted_at is null`

/** Condition on an agent `a`. */
const mayBePromoted = (hub: HubParts): SQL => sql`
  a.trust_level = 0 and not a.held_back and a.disabled_at is null and a.quarantines = 0 and (
    select count(distinct memory_id) from (${retrievalsBySettled(hub, sql`a.id`)}) as useful
  ) >= ${hub.config.trust.usefulMemories}`

/** Retrievals of an author's memories by settled agents. */
function retrievalsBySettled(hub: HubParts, author: SQL): SQL {
  const { settledDays } = hub.config.trust
  return sql`
    select r.memory_id, r.agent_id, r.created_at
    from memories m
      join retrieval_events r on r.memory_id = m.id and r.counted
      join agents s on s.id = r.agent_id
    where m.agent_id = ${author} and m.deleted_at is null and m.duplicate_of is null
      and ${counts('s')}
      and (s.promoted_at is null or s.promoted_at <= ${nowOf(hub)} - make_interval(days => ${settledDays}))`
}

const nowOf = ({ clock }: HubParts): SQL => sql`to_timestamp(${clock()}::float8 / 1000)`
