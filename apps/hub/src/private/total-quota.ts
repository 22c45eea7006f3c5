import { MemoryError, MemoryErrorCode } from '@recall/core'
import { heldBytes, privateNamespaces } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Hub } from '../hub.ts'

/** How long an agent that was below its quota is not counted again, in milliseconds: counting costs two calls. */
const knownForMs = 10_000

/** Refuses writes by agents whose namespaces together hold more than one agent may. */
export function createTotalQuota({ database, call, config }: Hub) {
  const below = new LRUCache<string, true>({ max: 10_000, ttl: knownForMs })
  /** @throws MemoryError QUOTA_EXCEEDED */
  return async (agent: string): Promise<void> => {
    if (below.has(agent)) return
    const named = await call(() =>
      database
        .select({ namespace: privateNamespaces.namespace })
        .from(privateNamespaces)
        .where(eq(privateNamespaces.agentId, agent)),
    )
    const namespaces = named.map(({ namespace }) => namespace)
    const held = await call(() => heldBytes(database, agent, namespaces))
    if (held > config.privateTotalBytes) {
      throw new MemoryError(
        `the private memory of this agent may hold ${config.privateTotalBytes} bytes in all its namespaces, and holds more: delete or clean up first`,
        MemoryErrorCode.QUOTA_EXCEEDED,
      )
    }
    below.set(agent, true)
  }
}
