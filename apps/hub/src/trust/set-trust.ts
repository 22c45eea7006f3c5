import { agents, trustLevels } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { keepAnAdministrator } from './administrators.ts'
import { changeMemories } from './change-memories.ts'
import { type Decision, noteDecision } from './decisions.ts'
import { isOfUse } from './promotion.ts'
import { qualities } from './quality.ts'

/**
 * Sets the trust of an agent by an administrator's decision. Retrievals do not undo it. Memories of a trusted agent
 * that others retrieved count as normal, as after a promotion.
 *
 * @throws MemoryError NOT_FOUND; CONFLICT when the last administrator would be none
 */
export async function setTrust(hub: Hub, id: string, trustLevel: number, decision: Decision): Promise<void> {
  const { database, call, clock, auth } = hub
  await call(() =>
    database.transaction(async (transaction) => {
      if (trustLevel < trustLevels.core) await keepAnAdministrator(transaction, id)
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
