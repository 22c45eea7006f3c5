import { MemoryError, MemoryErrorCode, memoryScopes } from '@recall/core'
import {
  agents,
  asMemoryErrors,
  createPostgresStore,
  entries,
  liftTimeLimit,
  privateNamespaces,
  rowsOf,
} from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { type Decision, noteDecision } from './decisions.ts'

/**
 * Deletes all private memory, archives included, of an agent in quarantine, which cannot do so itself. The decision is
 * noted once everything is gone. Repeat it after a failure, or for what a request under way still wrote.
 *
 * @returns how many entries there were
 * @throws MemoryError NOT_FOUND; CONFLICT when the agent is not in quarantine: with its key it can delete by itself,
 * and could go on writing
 */
export async function forgetPrivate(hub: Hub, id: string, decision: Decision): Promise<number> {
  const { database, call, clock, config } = hub
  const [agent] = await call(() =>
    database.select({ disabledAt: agents.disabledAt }).from(agents).where(eq(agents.id, id)),
  )
  if (!agent) throw notFound(`agent ${id}`)
  if (!agent.disabledAt)
    throw new MemoryError(
      `agent ${id} is not in quarantine: it can delete its private memory with its own key`,
      MemoryErrorCode.CONFLICT,
    )
  const store = createPostgresStore(database, { tenant: id, timeoutMs: config.databaseTimeoutMs })
  let removed = 0
  // Repeated at the end: a request under way may have moved something out of the archive meanwhile.
  for (const namespace of await namespacesOf(hub, id))
    for (const scope of memoryScopes)
      for (const shelf of [store, store.cold, store]) removed += await shelf.removeAll({ namespace, scope })
  await call(() =>
    database.transaction(async (transaction) => {
      await noteDecision(transaction, id, 'private memory deleted', decision, clock())
      await transaction.delete(privateNamespaces).where(eq(privateNamespaces.agentId, id))
    }),
  )
  return removed
}

/**
 * Includes namespaces that are not noted: maintenance may free one that is being written to. No index leads to the
 * entries of an agent, so this scans those of all agents, without a timeout; it is rarely needed.
 */
const namespacesOf = ({ database }: Hub, agent: string): Promise<string[]> =>
  asMemoryErrors(MemoryErrorCode.SEARCH_FAILED, () =>
    database.transaction(async (transaction) => {
      await liftTimeLimit(transaction)
      const rows = await rowsOf<{ namespace: string }>(
        transaction,
        sql`select namespace from ${privateNamespaces} where agent_id = ${agent}
          union select namespace from ${entries} where tenant = ${agent}`,
      )
      return rows.map(({ namespace }) => namespace)
    }),
  )
