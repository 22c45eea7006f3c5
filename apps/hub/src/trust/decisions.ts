import { redactText } from '@recall/core'
import { agents, type Database } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import type { Principal } from '../auth/principal.ts'
import { notFound } from '../problems.ts'

/** What an administrator decided about an agent or its memory, as a contest will ask for it. */
export interface Decision {
  by: Pick<Principal, 'id' | 'name'>
  reason?: string | undefined
}

/**
 * Adds a line to the notes of an agent, which administrators alone are shown: when, what, by whom and why.
 *
 * @param at milliseconds since 1970
 * @returns the agent; other decisions about it and its memories wait until the transaction ends
 * @throws MemoryError NOT_FOUND
 */
export async function noteDecision(
  transaction: Database,
  agentId: string,
  what: string,
  { by, reason }: Decision,
  at: number,
) {
  // One line each, and no secret in any: what is quoted as a reason was written by somebody else.
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
