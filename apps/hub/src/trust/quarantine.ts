import { agents, memories } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isUuid } from '../short-id.ts'

const oneMore = sql`${agents.quarantines} + 1`

/** Hides one memory from everybody but its author. */
export async function quarantineMemory({ database, call }: Hub, id: string): Promise<void> {
  const named = isUuid(id) ? eq(memories.id, id) : eq(memories.shortId, id.toUpperCase())
  await call(() =>
    database.transaction(async (transaction) => {
      const [memory] = await transaction
        .update(memories)
        .set({ quality: -2 })
        .where(named)
        .returning({ agentId: memories.agentId })
      if (!memory) throw notFound(`memory ${id}`)
      await transaction.update(agents).set({ quarantines: oneMore }).where(eq(agents.id, memory.agentId))
    }),
  )
}

/** Hides all memories of an agent and disables its key. */
export async function quarantineAgent({ database, call, clock, auth }: Hub, id: string): Promise<number> {
  const hidden = await call(() =>
    database.transaction(async (transaction) => {
      const [agent] = await transaction
        .update(agents)
        .set({ disabledAt: new Date(clock()), trustLevel: 0, quarantines: oneMore })
        .where(eq(agents.id, id))
        .returning({ id: agents.id })
      if (!agent) throw notFound(`agent ${id}`)
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

/** After an agent contested: it may come back, its memories as low signal. */
export async function restoreAgent({ database, call, auth }: Hub, id: string): Promise<void> {
  await call(() =>
    database.transaction(async (transaction) => {
      const [agent] = await transaction
        .update(agents)
        .set({ disabledAt: null, quarantines: 0 })
        .where(eq(agents.id, id))
        .returning({ id: agents.id })
      if (!agent) throw notFound(`agent ${id}`)
      await transaction.update(memories).set({ quality: -1 }).where(eq(memories.agentId, id))
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
          and not exists (select from citations c where c.memory_id = memories.id)`,
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
