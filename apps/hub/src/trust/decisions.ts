import { redactText } from '@recall/core'
import { agents, type Database } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import type { Principal } from '../access/principal.ts'
import { notFound } from '../problems.ts'

/** Who made a decision about an agent or its memory, and why. A contest needs both. */
export interface Decision {
  by: Pick<Principal, 'id' | 'name'>
  reason?: string | undefined
}

/**
 * Adds a line to an agent's notes, which only administrators see: when, what, by whom and why.
 *
 * @param at milliseconds since 1970
 * @returns the agent. Its row stays locked until the transaction ends, so other decisions about it wait
 * @throws MemoryError NOT_FOUND
 */
export async function noteDecision(
  transaction: Database,
  agentId: string,
  what: string,
  { by, reason }: Decision,
  at: number,
) {
  // A note is one line without secrets: the reason may quote what somebody else wrote.
  const why = reason ? `: ${redactText(reason).text.replace(/\s+/g, ' ')}` : ''
  const line = `${new Date(at).toISOString()} ${what} by ${by.name} (${by.id})${why}`
  const [agent] = await transaction
    .update(agents)
    .set({ notes: sql`concat_ws(chr(10), ${agents.notes}, ${line}::text)` })
    .where(eq(agents.id, agentId))
    .returning({ trustLevel: agents.trustLevel, disabledAt: agents.disabledAt })
  if (!agent) throw notFound(`agent ${agentId}`)
  return agent
}
