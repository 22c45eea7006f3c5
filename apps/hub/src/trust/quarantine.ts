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
      // Hidden twice, it counts once: one restoration has to undo it.
      if (hidden) await transaction.update(agents).set({ quarantines: oneMore }).where(eq(agents.id, agentId))
    }),
  )
}

/**
 * After a contest: the memory counts again as a new one of its author would, and no longer bars its author from
 * promotion.
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
      // The quarantine of an agent is one for all of its memories, and is lifted as a whole.
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
 * After an agent contested: it may come back, its memories as low signal.
 *
 * @throws MemoryError NOT_FOUND; CONFLICT when it is not in quarantine: its memories would lose their standing
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
      // Whatever trust an administrator gave it meanwhile: it begins anew.
      await transaction
        .update(agents)
        .set({ disabledAt: null, quarantines: 0, trustLevel: 0, promotedAt: null })
        .where(eq(agents.id, id))
      await transaction.update(memories).set({ quality: -1 }).where(eq(memories.agentId, id))
    }),
  )
  auth.forget()
}

/** An administrator's word, for whoever need not or cannot be promoted by what others use. */
export async function setTrust(
  { database, call, clock, auth }: Hub,
  id: string,
  trustLevel: number,
  decision: Decision,
): Promise<void> {
  await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, `trust set to ${trustLevel}`, decision, clock())
      // Whom an administrator trusts need not wait to be settled.
      await transaction.update(agents).set({ trustLevel, promotedAt: null }).where(eq(agents.id, id))
    }),
  )
  auth.forget()
}

/** Days after which a memory that nobody retrieved and nothing links to counts as low signal. */
const unusedDays = 90

/** Lowers what was never of use, and lifts what was: nothing in quarantine, and no duplicate. */
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
