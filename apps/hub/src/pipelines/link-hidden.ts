import { memories, memoryQuality } from '@recall/store-postgres'
import { and, eq, isNotNull, lte, type SQL } from 'drizzle-orm'
import pLimit from 'p-limit'
import type { Hub } from '../hub.ts'
import { callReferring } from '../trust/change-memories.ts'
import { keepLinks, linksOf, lockLinked } from './judge-memory.ts'

/** How many memories are linked at the same time: an agent may have thousands, and each takes a search. */
const linkedAtOnce = 4

/**
 * Links memories in quarantine to what others wrote meanwhile without being compared with them. Without the links,
 * neither would be a copy of the other once the quarantine is lifted.
 *
 * @param among condition on the memories to link
 */
export async function linkHidden(hub: Hub, among: SQL): Promise<void> {
  const { database, call } = hub
  const hidden = and(among, lte(memories.quality, memoryQuality.quarantined), isNotNull(memories.embedding))
  const rows = await call(() => database.select({ id: memories.id }).from(memories).where(hidden))
  const inTurn = pLimit(linkedAtOnce)
  await Promise.all(rows.map(({ id }) => inTurn(() => callReferring(hub, () => linkOne(hub, id)))))
}

async function linkOne(hub: Hub, id: string): Promise<void> {
  const { agentId, content, embedding, createdAt } = memories
  const [memory] = await hub.database
    .select({ agentId, content, embedding, createdAt })
    .from(memories)
    .where(eq(memories.id, id))
  if (!memory?.embedding) return
  const self = { id, createdAt: memory.createdAt.toISOString() }
  const { links } = await linksOf(hub, memory.agentId, memory.content, memory.embedding, self)
  if (links.length === 0) return
  await hub.database.transaction(async (transaction) => {
    await keepLinks(transaction, id, await lockLinked(transaction, links))
  })
}
