import { redactText } from '@recall/core'
import { rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../auth/principal.ts'
import type { Hub } from '../hub.ts'
import { embedText } from './embed.ts'
import { type Found, type NearMemory, nearestMemories, own } from './nearest.ts'

/** Candidates for each result, so that the other signals have something to choose from. */
const candidatesPerResult = 4

/** What use and a source can add to the similarity: they decide between neighbours, no more. */
const weights = { retrievals: 0.02, source: 0.005 }
/** So many retrievals count fully. */
const manyRetrievals = 1000

/** Candidates of low signal, among which crowds are told from discoveries. */
const lowCandidates = 50

/** So much nearer to the query than everything that is good must be what counts as low signal. */
const clearlyNearer = 0.05

/** So many discoveries are enough for one search. */
const mostDiscoveries = 2

/** Similarity first; what use and a source add decides between neighbours. */
const byRank = sql`similarity
  + ${weights.retrievals}::float8 * least(1, ln(1 + candidate.retrieval_count) / ln(1 + ${manyRetrievals}::float8))
  + case when candidate.source_url is null then 0 else ${weights.source}::float8 end desc`

/** Who repeats what another agent wrote, or says again what is known to be good, does not get its place. */
const isNews = sql`not exists (
  select from memory_links l join memories earlier on earlier.id = l.related_id
  where l.memory_id = m.id and earlier.agent_id <> m.agent_id and earlier.deleted_at is null
    and (l.relation = 'duplicate_candidate' and earlier.quality > -2 or earlier.quality = 0)
)`

/** What is good, and what counts as low signal unless something good is near: a search for each limit. */
const searches = new LRUCache<number, ReturnType<typeof nearestMemories>>({
  max: 50,
  memoMethod: (limit) =>
    nearestMemories(
      {
        shelf: 'good',
        allowed: sql`(m.quality = 0 or ${own})`,
        candidates: limit * candidatesPerResult,
        similarity: sql.placeholder('minSimilarity'),
        order: byRank,
        limit,
      },
      // Looked for by itself: a flood of it cannot fill the candidates.
      {
        shelf: 'low',
        allowed: sql`m.quality = -1 and not m.crowded and not ${own} and ${isNews}`,
        candidates: lowCandidates,
        similarity: sql.placeholder('minSimilarity'),
        order: byRank,
        unlessFound: sql.placeholder('related'),
      },
    ),
})
const nearestOf = (limit: number) => searches.memo(limit)

/**
 * Embeds the query, takes what is similar enough, ranks it and notes what was returned. What counts as low
 * signal comes after everything else, one or two of it, and only where nothing good is as near: so
 * newcomers are found, and floods are not. To its own author it is like any other.
 */
export async function searchMemories(hub: Hub, searcher: Principal, query: string, limit: number) {
  const { config, database, call } = hub
  const { minSimilarity, related } = config.thresholds
  const asked = redactText(query).text
  const vector = await embedText(hub, asked, 'query')
  const values = { agent: searcher.id, model: hub.embedder.model, minSimilarity, related }
  const [good, low] = (await call(() => nearestOf(limit)(database, vector, values))) as [Found, Found]
  const discoveries = (await apartFromCrowds(hub, low.memories))
    .filter((memory) => memory.similarity > good.best + clearlyNearer)
    .slice(0, Math.min(mostDiscoveries, limit))
  const results = [...good.memories.slice(0, limit - discoveries.length), ...discoveries]
  if (results.length > 0) await hub.noteRetrievals({ searcher, query: asked, found: results })
  return results
}

/** So many who say the same are a crowd, when the first of them came before it could be seen. */
const crowdSize = 3

/** Of memories of low signal those that no crowd repeats, one of each author. */
async function apartFromCrowds(hub: Hub, low: readonly NearMemory[]): Promise<NearMemory[]> {
  const nearestOf = new Map<string, NearMemory>()
  for (const memory of low) if (!nearestOf.has(memory.agentId)) nearestOf.set(memory.agentId, memory)
  if (nearestOf.size < crowdSize) return [...nearestOf.values()]
  const pairs = await hub.call(() =>
    rowsOf<{ id: string }>(
      hub.database,
      sql`
        select m.id from memories m join memories other on other.agent_id <> m.agent_id
        where m.id = any(${idsOf(low)}) and other.id = any(${idsOf(low)})
          and 1 - (m.embedding <=> other.embedding) >= ${hub.config.thresholds.crowd}
        group by m.id having count(distinct other.agent_id) >= ${crowdSize - 1}`,
    ),
  )
  const crowded = new Set(pairs.map(({ id }) => id))
  return [...nearestOf.values()].filter(({ id }) => !crowded.has(id))
}

const idsOf = (memories: readonly NearMemory[]) =>
  sql`array(select jsonb_array_elements_text(${JSON.stringify(memories.map(({ id }) => id))}::text::jsonb)::uuid)`
