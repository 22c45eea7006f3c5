import { type SQL, sql } from 'drizzle-orm'
import { qualities } from './quality.ts'

/**
 * Condition on a memory: it is a copy of one by the same author that an administrator put in quarantine. Others never
 * find such a copy, so nothing of theirs may be marked as a copy of it.
 *
 * @param memory name of the table in the statement
 */
export const repeatsHidden = (memory: string): SQL =>
  sql`exists (
    select from memories hidden
    where hidden.id = ${sql.raw(memory)}.duplicate_of and hidden.quality <= ${qualities.quarantined}
      and hidden.agent_id = ${sql.raw(memory)}.agent_id
  )`

/** Condition on a memory: only its author finds it, because an administrator hid it or what it repeats. */
export const isHidden = (memory: string): SQL =>
  sql`(${sql.raw(memory)}.quality <= ${qualities.quarantined} or ${repeatsHidden(memory)})`

/** Condition on a memory: its author is unverified, and no trusted agent has used it. */
const isUnproven = (memory: string): SQL =>
  sql`(${sql.raw(memory)}.quality < ${qualities.good}
    and exists (select from agents a where a.id = ${sql.raw(memory)}.agent_id and a.trust_level = 0))`

/**
 * Condition: an agent is trusted at this moment, whatever its trust when it authenticated.
 *
 * @param agent its id, as an expression
 */
export const isTrusted = (agent: SQL): SQL =>
  sql`exists (select from agents a where a.id = ${agent} and a.trust_level > 0)`

/**
 * Condition on an earlier memory: what others say may be a copy of it. A newcomer does not turn what a trusted agent
 * says into a copy by having said it first; otherwise it could hide what is likely to be said, or said again.
 *
 * @param isByTrusted condition: the agent that said it later is trusted
 */
export const isOriginalForOthers = (memory: string, isByTrusted: SQL): SQL =>
  sql`(not ${repeatsHidden(memory)} and not (${isUnproven(memory)} and ${isByTrusted}))`

/** Condition on two memories: as far as their authors go, the second may be a copy of the first. */
export const mayBeOriginal = (memory: string, copy: string): SQL => {
  const isByTrusted = isTrusted(sql.raw(`${copy}.agent_id`))
  const isOwn = sql.raw(`${memory}.agent_id = ${copy}.agent_id`)
  return sql`(${isOwn} or ${isOriginalForOthers(memory, isByTrusted)})`
}
