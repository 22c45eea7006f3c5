import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, type Database, trustLevels } from '@recall/store-postgres'
import { and, eq, isNull } from 'drizzle-orm'

/**
 * Refuses to take the rights of the last administrator: nobody could give them back over the API. Call it first in the
 * transaction that takes them, so that two cannot take each other's at once.
 *
 * @throws MemoryError CONFLICT
 */
export async function keepAnAdministrator(transaction: Pick<Database, 'select'>, id: string): Promise<void> {
  const administrators = await transaction
    .select({ id: agents.id })
    .from(agents)
    .where(and(eq(agents.trustLevel, trustLevels.core), isNull(agents.disabledAt)))
    .orderBy(agents.id)
    .for('update')
  if (administrators.length !== 1 || administrators[0]?.id !== id) return
  throw new MemoryError(
    'this is the only administrator: set the trust of another agent to 2 first',
    MemoryErrorCode.CONFLICT,
  )
}
