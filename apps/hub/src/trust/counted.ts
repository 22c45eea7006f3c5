import { citations } from '@recall/store-postgres'
import { and, eq, type SQL, sql } from 'drizzle-orm'

/**
 * Condition on an agent: its retrievals and citations count. Those of an agent in quarantine do not, whatever trust it
 * was given there.
 *
 * @param agent name of the table in the statement
 */
export const counts = (agent: string): SQL =>
  sql.raw(`(${agent}.trust_level > 0 and ${agent}.disabled_at is null)`)

/** Selects the citations that count. */
export const countedCitations = (memoryId: string): SQL | undefined =>
  and(
    eq(citations.memoryId, memoryId),
    sql`exists (select from agents a where a.id = ${citations.agentId} and ${counts('a')})`,
  )
