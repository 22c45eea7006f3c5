import { type Database, halfVector, indexableDimensions, rowsOf, throughIndex } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'

/** A memory that a search may return, as the database has it. */
export interface NearMemory {
  id: string
  shortId: string
  agentId: string
  author: string
  content: string
  tags: string[]
  sourceUrl: string | null
  createdAt: string
  quality: number
  retrievalCount: number
  similarity: number
}

/** Up to this many rows are compared one by one: exact, and faster than an index under a narrow condition. */
const mostCompared = 5000

/** The memories nearest to a vector among those that a condition allows, best first. */
export async function nearestMemories(
  database: Database,
  vector: readonly number[],
  allowed: SQL,
  limit: number,
): Promise<NearMemory[]> {
  const condition = sql`m.embedding is not null and m.deleted_at is null and ${allowed}`
  const literal = sql`${JSON.stringify(vector)}::text::vector`
  const columns = sql`
    m.id, m.short_id as "shortId", m.agent_id as "agentId", a.name as author, m.content, m.tags,
    m.source_url as "sourceUrl", m.created_at::text as "createdAt", m.quality,
    m.retrieval_count as "retrievalCount", 1 - (m.embedding <=> ${literal}) as similarity`
  const [counted] = await rowsOf<{ many: boolean }>(
    database,
    sql`select count(*) > ${mostCompared} as many from (select from memories m where ${condition} limit ${mostCompared + 1}) as seen`,
  )
  if (!counted?.many || vector.length > indexableDimensions) {
    return rowsOf(
      database,
      sql`
        with visible as materialized (select * from memories m where ${condition})
        select ${columns} from visible m join agents a on a.id = m.agent_id
        order by similarity desc, m.created_at desc, m.id limit ${limit}`,
    )
  }
  const dimensions = sql.raw(String(vector.length))
  return throughIndex(database, 2 * limit, (transaction) =>
    rowsOf(
      transaction,
      sql`
        with near as materialized (
          select * from memories m where ${condition} and vector_dims(m.embedding) = ${dimensions}
          order by ${halfVector(sql`m.embedding`, vector.length)} <=> ${halfVector(literal, vector.length)}
          limit ${2 * limit}
        )
        select ${columns} from near m join agents a on a.id = m.agent_id
        order by similarity desc, m.created_at desc, m.id limit ${limit}`,
    ),
  )
}

/** What an agent may see: all that is not in quarantine, and everything of its own. */
export const visibleTo = (agent: string): SQL => sql`(m.quality > -2 or m.agent_id = ${agent}::uuid)`
