import { citations } from '@recall/store-postgres'
import { and, eq, type SQL, sql } from 'drizzle-orm'

/** Selects the citations that count: those by trusted agents. */
export const countedCitations = (memoryId: string): SQL | undefined =>
  and(
    eq(citations.memoryId, memoryId),
    sql`exists (select from agents a where a.id = ${citations.agentId} and a.trust_level > 0)`,
  )
