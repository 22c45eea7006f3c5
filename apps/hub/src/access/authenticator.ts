import { agents, type Database } from '@recall/store-postgres'
import { eq, or } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { DatabaseCalls } from '../database-calls.ts'
import { hashOfKey } from './keys.ts'
import { agentDisabled, type Principal, tierOf, unauthenticated } from './principal.ts'

/**
 * Lifetime of a cached key, in milliseconds. Every process of the hub turns away a disabled agent, and a replaced
 * key, after this time at the latest.
 */
const knownForMs = 5000

/** Finds the agent of an `Authorization` header. */
export function createAuthenticator(database: Database, { call }: Pick<DatabaseCalls, 'call'>) {
  // The cache reads the clock at every lookup: a sampled clock would let a key live longer than its lifetime.
  const known = new LRUCache<string, Principal>({ max: 10_000, ttl: knownForMs, ttlResolution: 0 })
  let timesForgotten = 0

  /**
   * A replacement key takes over when it is first used: that proves that its owner received it. Until then the old key
   * works; otherwise a lost answer would lock the agent out for good.
   *
   * @throws MemoryError UNAUTHENTICATED when a third key was issued in the meantime
   */
  const takeOver = async (hash: string, replaced: string): Promise<void> => {
    const [taken] = await call(() =>
      database
        .update(agents)
        .set({ apiKeyHash: hash, nextApiKeyHash: null })
        .where(eq(agents.nextApiKeyHash, hash))
        .returning({ id: agents.id }),
    )
    known.delete(replaced)
    // Another request with the same key may have been first.
    if (!taken && (await call(() => database.$count(agents, eq(agents.apiKeyHash, hash)))) === 0)
      throw unauthenticated()
  }

  return {
    /**
     * @param options.anew asks the database even for a known key: for calls whose effect lasts longer than the cache
     * @throws MemoryError UNAUTHENTICATED, the same for every unknown key; FORBIDDEN for a disabled agent
     */
    async authenticate(header: string | undefined, { anew = false } = {}): Promise<Principal> {
      const key = /^Bearer {1,100}([\w-]{1,200})$/i.exec(header ?? '')?.[1]
      if (!key) throw unauthenticated()
      const hash = hashOfKey(key)
      const cached = known.get(hash)
      if (cached && !anew) return cached
      const start = performance.now()
      const forgottenBefore = timesForgotten
      const [agent] = await call(() =>
        database
          .select()
          .from(agents)
          .where(or(eq(agents.apiKeyHash, hash), eq(agents.nextApiKeyHash, hash))),
      )
      if (!agent) throw unauthenticated()
      if (agent.disabledAt) throw agentDisabled()
      const principal = { id: agent.id, name: agent.name, tier: tierOf(agent.trustLevel), keyHash: hash }
      if (agent.apiKeyHash !== hash) await takeOver(hash, agent.apiKeyHash)
      // The lifetime counts from before the query, so a key that was replaced during it does not live longer.
      if (timesForgotten === forgottenBefore) known.set(hash, principal, { start })
      return principal
    },

    /**
     * Empties the cache after this process changed keys or trust, so that the next request reads the database. Lookups
     * under way are not cached either, as they may return the old state.
     */
    forget(): void {
      timesForgotten++
      known.clear()
    },
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>
