import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, type Database, memories, memoryQuality, trustLevels } from '@recall/store-postgres'
import { and, eq, isNotNull, lte, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isNamed } from '../short-id.ts'
import { keepAnAdministrator } from './administrators.ts'
import { callReferring, changeMemories } from './change-memories.ts'
import { type Decision, noteDecision } from './decisions.ts'
import { freeCopies } from './freed-copies.ts'
import { linkCopies, markCopies, standingFor, stands } from './marked-copies.ts'
import { repeatsHidden } from './originals.ts'
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
      await keepAnAdministrator(transaction, id)
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
