import { MemoryError, MemoryErrorCode, memoryScopes } from '@recall/core'
import { agents, createPostgresStore, privateNamespaces } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { type Decision, noteDecision } from './decisions.ts'

/**
 * Deletes all private memory of an agent in quarantine, who cannot do it himself, with its archives. It is noted once
 * all is gone; after a failure it may be repeated.
 *
 * @returns how many entries there were
 * @throws MemoryError NOT_FOUND; CONFLICT when the agent is not in quarantine: with its key it deletes by itself, and
 * writes on
 */
export async function forgetPrivate(hub: Hub, id: string, decision: Decision): Promise<number> {
  const { database, call, clock, config } = hub
  const [agent] = await call(() =>
    database.select({ disabledAt: agents.disabledAt }).from(agents).where(eq(agents.id, id)),
  )
  if (!agent) throw notFound(`agent ${id}`)
  if (!agent.disabledAt)
    throw new MemoryError(
      `agent ${id} is not in quarantine: with its key it deletes its private memory by itself`,
      MemoryErrorCode.CONFLICT,
    )
  const store = createPostgresStore(database, { tenant: id, timeoutMs: config.databaseTimeoutMs })
  const noted = eq(privateNamespaces.agentId, id)
  const names = await call(() =>
    database.select({ namespace: privateNamespaces.namespace }).from(privateNamespaces).where(noted),
  )
  let removed = 0
  for (const { namespace } of names)
    for (const scope of memoryScopes)
      for (const shelf of [store, store.cold]) removed += await shelf.removeAll({ namespace, scope })
  await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, 'private memory deleted', decision, clock())
      await transaction.delete(privateNamespaces).where(noted)
    }),
  )
  return removed
}
