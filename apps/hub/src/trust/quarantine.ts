import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, type Database, memories, memoryQuality, rowsOf, trustLevels } from '@recall/store-postgres'
import { and, eq, isNotNull, lte, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isNamed } from '../short-id.ts'
import { callReferring, changeMemories, rowsAtOnce } from './change-memories.ts'
import { counts } from './counted.ts'
import { type Decision, noteDecision } from './decisions.ts'
import { freeCopies, withdrawn } from './freed-copies.ts'
import { linkCopies, markCopies, markTwins, standingFor, stands } from './marked-copies.ts'
import { repeatsHidden } from './originals.ts'
import { isOfUse } from './promotion.ts'
import { qualities } from './quality.ts'

const oneMore = sql`${agents.quarantines} + 1`

/**
 * Hides one memory from everybody but its author, together with later memories in the same words by the author that are
 * not marked as copies. Copies of it by other agents are judged again as separate memories.
 */
export async function quarantineMemory(hub: Hub, id: string, decision: Decision): Promise<void> {
  const { database, call, clock } = hub
  const hidden = await call(() =>
    database.transaction(async (transaction) => {
      const { agentId, ...memory } = await memoryToJudge(transaction, id)
      await noteDecision(transaction, agentId, `${memory.shortId} put in quarantine`, decision, clock())
      // A memory that is hidden twice counts once, because one restoration has to undo it.
      if ((await lockedQuality(transaction, memory)) <= memoryQuality.quarantined) return memory.id
      await transaction
        .update(memories)
        .set({ quality: memoryQuality.quarantined })
        .where(eq(memories.id, memory.id))
      await transaction.update(agents).set({ quarantines: oneMore }).where(eq(agents.id, agentId))
      await transaction.execute(markOwnTwins(memory.id))
      return memory.id
    }),
  )
  const repeated = sql`duplicate_of = ${hidden}::uuid and ${repeatsHidden('memories')}`
  const isThisOne = sql`id = ${hidden}::uuid and quality <= ${qualities.quarantined}`
  await freeCopies(hub, sql`select id from memories where ${isThisOne} or ${repeated}`)
}

const markOwnTwins = (hidden: string) => sql`
  with twin as (
    update memories set duplicate_of = o.id, quality = ${qualities.lowSignal} from memories o
    where o.id = ${hidden}::uuid and memories.agent_id = o.agent_id and memories.id <> o.id
      and memories.content = o.content and (memories.created_at, memories.id) > (o.created_at, o.id)
      and ${stands('memories')}
    returning memories.id
  )
  insert into memory_links (memory_id, related_id, relation, similarity)
  select id, ${hidden}::uuid, 'duplicate_candidate', 1 from twin on conflict do nothing`

/**
 * Lifts the quarantine of a memory after a contest. It counts like a new memory of its author again, as a copy of what
 * it repeats, and no longer bars the author from promotion.
 *
 * @throws MemoryError NOT_FOUND; CONFLICT when it is not in quarantine
 */
export async function restoreMemory(hub: Hub, id: string, decision: Decision): Promise<void> {
  const { database, clock } = hub
  const restored = await callReferring(hub, () =>
    database.transaction(async (transaction) => {
      const { agentId, ...memory } = await memoryToJudge(transaction, id)
      const author = await noteDecision(transaction, agentId, `${memory.shortId} restored`, decision, clock())
      if ((await lockedQuality(transaction, memory)) > memoryQuality.quarantined)
        throw notInQuarantine(`memory ${memory.shortId}`)
      // Its original may be in quarantine itself: the decision is about this memory only.
      const marked = sql`(select o.id from memories o where o.id = memories.duplicate_of and o.quality > ${qualities.quarantined})`
      const copied = sql`coalesce(${marked}, ${standingFor(hub, sql`true`)})`
      await transaction
        .update(memories)
        .set({
          quality:
            author.trustLevel > trustLevels.unverified
              ? sql`case when ${copied} is null then ${qualities.good} else ${qualities.lowSignal} end`
              : memoryQuality.lowSignal,
          duplicateOf: copied,
        })
        .where(eq(memories.id, memory.id))
      await linkCopies(transaction, sql`id = ${memory.id}::uuid`)
      // The quarantine of an agent covers all of its memories, and only `restoreAgent` lifts it.
      if (!author.disabledAt) {
        const oneLess = sql`greatest(${agents.quarantines} - 1, 0)`
        await transaction.update(agents).set({ quarantines: oneLess }).where(eq(agents.id, agentId))
      }
      return memory.id
    }),
  )
  await markCopies(hub, { on: 'o', condition: sql`o.id = ${restored}::uuid` })
  // Repetitions by its author stayed copies of it while it was in quarantine.
  await freeCopies(hub, sql`select id from memories where id = ${restored}::uuid and deleted_at is not null`)
}

async function memoryToJudge(transaction: Database, id: string) {
  const [memory] = await transaction
    .select({ id: memories.id, shortId: memories.shortId, agentId: memories.agentId })
    .from(memories)
    .where(isNamed(id))
  if (!memory) throw notFound(`memory ${id}`)
  return memory
}

/** The quality of a memory; others cannot change it until the transaction ends. Its author is already locked. */
async function lockedQuality(
  transaction: Database,
  { id, shortId }: { id: string; shortId: string },
): Promise<number> {
  const [memory] = await transaction
    .select({ quality: memories.quality })
    .from(memories)
    .where(eq(memories.id, id))
    .for('no key update')
  if (!memory) throw notFound(`memory ${shortId}`)
  return memory.quality
}

const notInQuarantine = (what: string): MemoryError =>
  new MemoryError(`${what} is not in quarantine`, MemoryErrorCode.CONFLICT)

/**
 * Disables the key of an agent, then hides all of its memories. After the first step it cannot write any more, so the
 * second may take its time, and may be repeated if it was interrupted.
 */
export async function quarantineAgent(hub: Hub, id: string, decision: Decision): Promise<number> {
  const { database, call, clock, auth } = hub
  await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, 'agent put in quarantine', decision, clock())
      await transaction
        .update(agents)
        // An interrupted quarantine that is repeated counts once.
        .set({
          disabledAt: sql`coalesce(${agents.disabledAt}, ${new Date(clock()).toISOString()}::timestamptz)`,
          trustLevel: trustLevels.unverified,
          quarantines: sql`case when ${agents.disabledAt} is null then ${oneMore} else ${agents.quarantines} end`,
        })
        .where(eq(agents.id, id))
    }),
  )
  auth.forget()
  // Locks the agent, so that no memory is hidden after it was let back in.
  const disabled = sql`select id from agents where id = ${id}::uuid and disabled_at is not null for share`
  await changeMemories(
    hub,
    sql`quality = ${qualities.quarantined}`,
    sql`agent_id = (${disabled}) and quality > ${qualities.quarantined}`,
  )
  await freeCopies(
    hub,
    sql`select id from memories where agent_id = ${id}::uuid and quality <= ${qualities.quarantined}`,
  )
  return call(() => database.$count(memories, eq(memories.agentId, id)))
}

/**
 * Lets an agent back in after a contest; its memories return as low signal, and as copies of what they repeat.
 *
 * @throws MemoryError NOT_FOUND; CONFLICT when the agent is not in quarantine, because its memories would lose their
 * quality
 */
export async function restoreAgent(hub: Hub, id: string, decision: Decision): Promise<void> {
  const { database, call, auth } = hub
  const disabled = and(eq(agents.id, id), isNotNull(agents.disabledAt))
  // The key comes last: if this is interrupted, it may be repeated.
  do {
    if ((await call(() => database.$count(agents, disabled))) > 0) await showAgain(hub, id)
  } while (!(await letBackIn(hub, id, decision)))
  auth.forget()
}

async function showAgain(hub: Hub, agentId: string): Promise<void> {
  const own = sql`agent_id = ${agentId}::uuid`
  await changeMemories(
    hub,
    sql`quality = ${qualities.lowSignal}`,
    sql`${own} and quality <= ${qualities.quarantined}`,
  )
  // All of its own memories come back together: among those, the earliest is the original.
  const standing = standingFor(
    hub,
    sql`(other.agent_id <> memories.agent_id or (other.created_at, other.id) < (memories.created_at, memories.id))`,
  )
  await changeMemories(
    hub,
    // Includes memories that were restored separately, as good ones.
    sql`duplicate_of = ${standing}, quality = ${qualities.lowSignal}`,
    sql`${own} and duplicate_of is null and deleted_at is null and ${standing} is not null`,
  )
  await hub.call(() => linkCopies(hub.database, sql`${own} and duplicate_of is not null`))
  await markCopies(hub, { on: 'o', condition: sql`o.agent_id = ${agentId}::uuid` })
}

/** @returns `false`, without a change, when memories of the agent are hidden: its quarantine is still under way */
const letBackIn = ({ database, call, clock }: Hub, id: string, decision: Decision): Promise<boolean> =>
  call(() =>
    database.transaction(async (transaction) => {
      const [agent] = await transaction
        .select({ disabledAt: agents.disabledAt })
        .from(agents)
        .where(eq(agents.id, id))
        .for('no key update')
      if (!agent) throw notFound(`agent ${id}`)
      if (!agent.disabledAt) throw notInQuarantine(`agent ${id}`)
      const hidden = and(eq(memories.agentId, id), lte(memories.quality, memoryQuality.quarantined))
      if ((await transaction.$count(memories, hidden)) > 0) return false
      await noteDecision(transaction, id, 'agent restored', decision, clock())
      // The agent starts over, even if an administrator trusted it meanwhile. An agent that was held back stays so.
      await transaction
        .update(agents)
        .set({ disabledAt: null, quarantines: 0, trustLevel: trustLevels.unverified, promotedAt: null })
        .where(eq(agents.id, id))
      return true
    }),
  )

/**
 * Sets the trust of an agent by an administrator's decision. Retrievals do not undo it. Memories of a trusted agent
 * that others retrieved count as normal, as after a promotion.
 */
export async function setTrust(hub: Hub, id: string, trustLevel: number, decision: Decision): Promise<void> {
  const { database, call, clock, auth } = hub
  await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, `trust set to ${trustLevel}`, decision, clock())
      // An agent that an administrator trusts counts as settled at once.
      const set = { trustLevel, promotedAt: null, heldBack: trustLevel === trustLevels.unverified }
      await transaction.update(agents).set(set).where(eq(agents.id, id))
    }),
  )
  auth.forget()
  // Locks the agent, so that no memory is raised after it lost its trust again.
  const trusted = sql`select id from agents where id = ${id}::uuid and trust_level > 0 for share`
  await changeMemories(hub, sql`quality = ${qualities.good}`, sql`${isOfUse} and agent_id = (${trusted})`)
}

/** Days after which a memory counts as low signal if nobody retrieved or cited it and nothing links to it. */
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
      and not exists (select from memory_links l where l.memory_id = memories.id)
      and not exists (select from memory_links l where l.related_id = memories.id)
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
