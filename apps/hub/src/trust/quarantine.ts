import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, type Database, memories } from '@recall/store-postgres'
import { and, eq, gt, lte, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isUuid } from '../short-id.ts'
import { type Decision, noteDecision } from './decisions.ts'

const oneMore = sql`${agents.quarantines} + 1`

/** Hides one memory from everybody but its author. */
export async function quarantineMemory(
  { database, call, clock }: Hub,
  id: string,
  decision: Decision,
): Promise<void> {
  await call(() =>
    database.transaction(async (transaction) => {
      const { agentId, ...memory } = await memoryToJudge(transaction, id)
      await noteDecision(transaction, agentId, `${memory.shortId} put in quarantine`, decision, clock())
      const [hidden] = await transaction
        .update(memories)
        .set({ quality: -2 })
        .where(and(eq(memories.id, memory.id), gt(memories.quality, -2)))
        .returning({ id: memories.id })
      // A memory that is hidden twice counts once, because one restoration has to undo it.
      if (hidden) await transaction.update(agents).set({ quarantines: oneMore }).where(eq(agents.id, agentId))
    }),
  )
}

/**
 * Lifts the quarantine of a memory after a contest. It counts like a new memory of its author again, and no longer
 * bars the author from promotion.
 *
 * @throws MemoryError NOT_FOUND; CONFLICT when it is not in quarantine
 */
export async function restoreMemory(
  { database, call, clock }: Hub,
  id: string,
  decision: Decision,
): Promise<void> {
  await call(() =>
    database.transaction(async (transaction) => {
      const { agentId, ...memory } = await memoryToJudge(transaction, id)
      const author = await noteDecision(transaction, agentId, `${memory.shortId} restored`, decision, clock())
      const [restored] = await transaction
        .update(memories)
        .set({ quality: author.trustLevel > 0 ? sql`case when duplicate_of is null then 0 else -1 end` : -1 })
        .where(and(eq(memories.id, memory.id), lte(memories.quality, -2)))
        .returning({ id: memories.id })
      if (!restored) throw notInQuarantine(`memory ${memory.shortId}`)
      // The quarantine of an agent covers all of its memories, and only `restoreAgent` lifts it.
      if (!author.disabledAt) {
        const oneLess = sql`greatest(${agents.quarantines} - 1, 0)`
        await transaction.update(agents).set({ quarantines: oneLess }).where(eq(agents.id, agentId))
      }
    }),
  )
}

async function memoryToJudge(transaction: Database, id: string) {
  const named = isUuid(id) ? eq(memories.id, id) : eq(memories.shortId, id.toUpperCase())
  const [memory] = await transaction
    .select({ id: memories.id, shortId: memories.shortId, agentId: memories.agentId })
    .from(memories)
    .where(named)
  if (!memory) throw notFound(`memory ${id}`)
  return memory
}

const notInQuarantine = (what: string): MemoryError =>
  new MemoryError(`${what} is not in quarantine`, MemoryErrorCode.CONFLICT)

/** Hides all memories of an agent and disables its key. */
export async function quarantineAgent(
  { database, call, clock, auth }: Hub,
  id: string,
  decision: Decision,
): Promise<number> {
  const hidden = await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, 'agent put in quarantine', decision, clock())
      await transaction
        .update(agents)
        .set({ disabledAt: new Date(clock()), trustLevel: 0, quarantines: oneMore })
        .where(eq(agents.id, id))
      const rows = await transaction
        .update(memories)
        .set({ quality: -2 })
        .where(eq(memories.agentId, id))
        .returning({ id: memories.id })
      return rows.length
    }),
  )
  auth.forget()
  return hidden
}

/**
 * Lets an agent back in after a contest; its memories return as low signal.
 *
 * @throws MemoryError NOT_FOUND; CONFLICT when the agent is not in quarantine, because its memories would lose their
 * quality
 */
export async function restoreAgent(
  { database, call, clock, auth }: Hub,
  id: string,
  decision: Decision,
): Promise<void> {
  await call(() =>
    database.transaction(async (transaction) => {
      const before = await noteDecision(transaction, id, 'agent restored', decision, clock())
      if (!before.disabledAt) throw notInQuarantine(`agent ${id}`)
      // The agent starts over, even if an administrator set its trust meanwhile.
      await transaction
        .update(agents)
        .set({ disabledAt: null, quarantines: 0, trustLevel: 0, promotedAt: null, heldBack: false })
        .where(eq(agents.id, id))
      await transaction.update(memories).set({ quality: -1 }).where(eq(memories.agentId, id))
    }),
  )
  auth.forget()
}

/** Sets the trust of an agent by an administrator's decision. Retrievals do not undo it. */
export async function setTrust(
  { database, call, clock, auth }: Hub,
  id: string,
  trustLevel: number,
  decision: Decision,
): Promise<void> {
  await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, `trust set to ${trustLevel}`, decision, clock())
      // An agent that an administrator trusts counts as settled at once.
      const set = { trustLevel, promotedAt: null, heldBack: trustLevel === 0 }
      await transaction.update(agents).set(set).where(eq(agents.id, id))
    }),
  )
  auth.forget()
}

/** Days after which a memory counts as low signal if nobody retrieved or cited it and nothing links to it. */
const unusedDays = 90

/** Lowers memories that were never used, and raises those that were, except in quarantine and duplicates. */
export async function recomputeQuality({
  database,
  call,
  clock,
}: Hub): Promise<{ lowered: number; raised: number }> {
  const before = new Date(clock() - unusedDays * 24 * 60 * 60 * 1000).toISOString()
  return call(async () => {
    const lowered = await database
      .update(memories)
      .set({ quality: -1 })
      .where(
        sql`quality = 0 and retrieval_count = 0 and created_at < ${before}::timestamptz
          and not exists (select from memory_links l where l.memory_id = memories.id or l.related_id = memories.id)
          and not exists (
            select from citations c join agents a on a.id = c.agent_id
            where c.memory_id = memories.id and a.trust_level > 0
          )`,
      )
      .returning({ id: memories.id })
    const raised = await database
      .update(memories)
      .set({ quality: 0 })
      .where(
        sql`quality = -1 and retrieval_count > 0 and duplicate_of is null
          and agent_id in (select id from agents where trust_level > 0)`,
      )
      .returning({ id: memories.id })
    return { lowered: lowered.length, raised: raised.length }
  })
}
