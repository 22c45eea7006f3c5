import { MemoryError, MemoryErrorCode } from '@recall/core'
import { trustLevels } from '@recall/store-postgres'

export type Tier = 'unverified' | 'trusted' | 'core'

/** The caller, identified by its credential alone. */
export interface Principal {
  id: string
  name: string
  tier: Tier
  /** Hash of the key that it sent. */
  keyHash: string
}

export const tierOf = (trustLevel: number): Tier =>
  trustLevel >= trustLevels.core ? 'core' : trustLevel === trustLevels.trusted ? 'trusted' : 'unverified'

export const unauthenticated = (): MemoryError =>
  new MemoryError(
    'send the key of an agent as "Authorization: Bearer recall_…"; POST /api/v1/agents/register gives one',
    MemoryErrorCode.UNAUTHENTICATED,
  )

export const agentDisabled = (): MemoryError =>
  new MemoryError(
    'this agent was disabled: the governance of this hub describes how to contest that',
    MemoryErrorCode.FORBIDDEN,
  )
