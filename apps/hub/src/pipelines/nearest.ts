import { type Database, halfVector, indexableDimensions, rowsOf, throughIndex } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'

/** A memory that a search may return, as the database has it. */
export interface NearMemory {
  id: string
  shortId: string
  agentId: string
  author: string
  trustLevel: number
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

/** Through the index so many are looked at, however few are wanted. */
const fewestCandidates = 100

/** Which memories a condition is about, whoever asks. */
export type Shelf = 'good' | 'low' | 'visible'

/**
 * Shelves that were seen to be large: counting costs as much as searching, and the index is right for fewer rows
 * as well, so that it does no harm to know this for a minute too long.
 */
const largeShelves = new WeakMap<Database, LRUCache<Shelf, true>>()

function largeShelvesOf(database: Database): LRUCache<Shelf, true> {
  const known = largeShelves.get(database) ?? new LRUCache({ max: 10, ttl: 60_000 })
  largeShelves.set(database, known)
  return known
}

/**
 * The memories nearest to a vector among those that a condition allows, best first.
 *
 * @param shelf what the condition is about, where it is much the same for every caller
 */
export async function nearestMemories(
  database: Database,
  vector: readonly number[],
  allowed: SQL,
  limit: number,
  shelf?: Shelf,
): Promise<NearMemory[]> {
  const condition = sql`m.embedding is not null and m.deleted_at is null and ${allowed}`
  const literal = sql`${JSON.stringify(vector)}::text::vector`
  const columns = sql`
    m.id, m.short_id as "shortId", m.agent_id as "agentId", a.name as author,
    a.trust_level as "trustLevel", m.content, m.tags,
    m.source_url as "sourceUrl", m.created_at::text as "createdAt", m.quality,
    m.retrieval_count as "retrievalCount", 1 - (m.embedding <=> ${literal}) as similarity`
  const large = largeShelvesOf(database)
  const many = (shelf && large.get(shelf)) ?? (await exceeds(database, condition, mostCompared))
  if (many && shelf) large.set(shelf, true)
  if (!many || vector.length > indexableDimensions) {
    return rowsOf(
      database,
      sql`
        with visible as materialized (select * from memories m where ${condition})
        select ${columns} from visible m join agents a on a.id = m.agent_id
        order by similarity desc, m.created_at desc, m.id limit ${limit}`,
    )
  }
  const dimensions = sql.raw(String(vector.length))
  // Under a condition the first few that the index gives are not the nearest: of 100k memories, 1/16 allowed, ten
  // of twenty were right in nine cases of ten.
  const pool = Math.max(fewestCandidates, 2 * limit)
  return throughIndex(database, pool, (transaction) =>
    rowsOf(
      transaction,
      sql`
        with near as materialized (
          select * from memories m where ${condition} and vector_dims(m.embedding) = ${dimensions}
          order by ${halfVector(sql`m.embedding`, vector.length)} <=> ${halfVector(literal, vector.length)}
          limit ${pool}
        )
        select ${columns} from near m join agents a on a.id = m.agent_id
        order by similarity desc, m.created_at desc, m.id limit ${limit}`,
    ),
  )
}

async function exceeds(database: Database, condition: SQL, most: number): Promise<boolean> {
  const [counted] = await rowsOf<{ many: boolean }>(
    database,
    sql`select count(*) > ${most} as many from (select from memories m where ${condition} limit ${most + 1}) as seen`,
  )
  return counted?.many === true
}

/** What an agent may see: all that is not in quarantine, and everything of its own. */
export const visibleTo = (agent: string): SQL => sql`(m.quality > -2 or m.agent_id = ${agent}::uuid)`
