import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents } from '@recall/store-postgres'
import { eq, or } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Hub } from '../hub.ts'
import { hashOfKey } from './keys.ts'

export type Tier = 'unverified' | 'trusted' | 'core'

/** Who calls: known from the credential alone. */
export interface Principal {
  id: string
  name: string
  tier: Tier
}

export const tierOf = (trustLevel: number): Tier =>
  trustLevel >= 2 ? 'core' : trustLevel === 1 ? 'trusted' : 'unverified'

/**
 * How long a key that was looked up is known without asking again: a disabled agent is out after this, and so is a
 * key that was replaced, in every process of the hub.
 */
const knownForMs = 5000

/** Finds the agent of an `Authorization` header. */
export function createAuthenticator({ database, call }: Pick<Hub, 'database' | 'call'>) {
  // Read at every look: a clock that is read now and then would let a key live longer than that.
  const known = new LRUCache<string, Principal>({ max: 10_000, ttl: knownForMs, ttlResolution: 0 })

  /**
   * A key that was given out to replace another one does so when it first comes: its owner has got it. Until then
   * the old one works, or a lost answer would lock the agent out for good.
   *
   * @throws MemoryError UNAUTHENTICATED when still another key was given out meanwhile
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
    // Another request with it may have been first.
    if (!taken && (await call(() => database.$count(agents, eq(agents.apiKeyHash, hash)))) === 0)
      throw unauthenticated()
  }

  return {
    /** @throws MemoryError UNAUTHENTICATED, the same for every key that is not known; FORBIDDEN when disabled */
    async authenticate(header: string | undefined): Promise<Principal> {
      const key = /^Bearer ([\w-]{1,200})$/i.exec(header ?? '')?.[1]
      if (!key) throw unauthenticated()
      const hash = hashOfKey(key)
      const cached = known.get(hash)
      if (cached) return cached
      const start = performance.now()
      const [agent] = await call(() =>
        database
          .select()
          .from(agents)
          .where(or(eq(agents.apiKeyHash, hash), eq(agents.nextApiKeyHash, hash))),
      )
      if (!agent) throw unauthenticated()
      if (agent.disabledAt) {
        throw new MemoryError(
          'this agent was disabled: how to contest that is described in the governance of this hub',
          MemoryErrorCode.FORBIDDEN,
        )
      }
      const principal = { id: agent.id, name: agent.name, tier: tierOf(agent.trustLevel) }
      if (agent.apiKeyHash !== hash) await takeOver(hash, agent.apiKeyHash)
      // Known since it was asked for: what was replaced meanwhile must not count from now.
      known.set(hash, principal, { start })
      return principal
    },

    /** Makes the next request look again, after a change of keys or trust in this process. */
    forget(): void {
      known.clear()
    },
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>

const unauthenticated = (): MemoryError =>
  new MemoryError(
    'send the key of an agent as "Authorization: Bearer recall_…"; POST /api/v1/agents/register gives one',
    MemoryErrorCode.UNAUTHENTICATED,
  )
