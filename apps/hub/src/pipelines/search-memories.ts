import { redactText } from '@recall/core'
import { rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../access/principal.ts'
import type { Hub } from '../hub.ts'
import { qualities } from '../trust/quality.ts'
import { embedText } from './embed.ts'
import { type Found, good, lowOfOthers, type NearMemory, nearestMemories } from './nearest.ts'

/** Candidates per result, so that the other signals have something to reorder. */
const candidatesPerResult = 4

/** The most that use and a source add to the similarity: they decide only near-ties. */
const weights = { retrievals: 0.02, source: 0.005 }
/** From this many retrievals on, the bonus for use is full. */
const manyRetrievals = 1000

/** Low-signal candidates to consider, from which crowds are then removed. */
const lowCandidates = 50

/** A low-signal memory is returned only if its similarity exceeds that of the best good memory by more than this. */
const clearlyNearer = 0.05

/** Most low-signal memories in one result. */
const mostDiscoveries = 2

/**
 * Discoveries take the places that good memories leave free, or else at most half of all: never the place of the best
 * one.
 */
const placesForDiscoveries = (limit: number, goodOnes: number): number =>
  Math.min(mostDiscoveries, Math.max(limit - goodOnes, Math.floor(limit / 2)))

/** Order by similarity, plus the bonuses for use and for a source. */
const byRank = sql`similarity
  + ${weights.retrievals}::float8 * least(1, ln(1 + candidate.retrieval_count) / ln(1 + ${manyRetrievals}::float8))
  + case when candidate.source_url is null then 0 else ${weights.source}::float8 end desc`

/** At most this many good memories of one author come before those of others, however many of them are near. */
const mostOfOneAuthor = 3

const byVariety = sql`row_number() over (partition by candidate.agent_id order by ${byRank})
  > ${sql.raw(String(mostOfOneAuthor))}, ${byRank}`

/** What `byRank` adds up for one memory. Low-signal memories come last, whatever their sum. */
export const signalsOf = ({ similarity, retrievalCount, sourceUrl }: NearMemory) => ({
  similarity,
  retrievals: weights.retrievals * Math.min(1, Math.log1p(retrievalCount) / Math.log1p(manyRetrievals)),
  source: sourceUrl === null ? 0 : weights.source,
})

/**
 * Excludes copies, near-repetitions of another agent's memory, and memories that are linked to another agent's good
 * one, whichever was first: otherwise a newcomer could stand beside what is likely to be said by saying it first.
 */
const isNews = sql`m.duplicate_of is null and not exists (
  select from memory_links l join memories earlier on earlier.id = l.related_id
  where l.memory_id = m.id and earlier.agent_id <> m.agent_id and earlier.deleted_at is null
    and (l.relation = 'duplicate_candidate' and earlier.quality > ${qualities.quarantined} or earlier.quality = ${qualities.good})
) and not exists (
  select from memory_links l join memories later on later.id = l.memory_id
  where l.related_id = m.id and later.agent_id <> m.agent_id and later.deleted_at is null
    and later.quality = ${qualities.good}
)`

/** The statement for each limit: good memories, and low-signal ones unless something good is near. */
const searches = new LRUCache<number, ReturnType<typeof nearestMemories>>({
  max: 50,
  memoMethod: (limit) =>
    nearestMemories(
      {
        shelf: 'good',
        among: good,
        candidates: limit * candidatesPerResult,
        similarity: sql.placeholder('minSimilarity'),
        order: byVariety,
        limit,
      },
      // A separate search, so that a flood of low-signal memories cannot crowd out good candidates.
      {
        shelf: 'low',
        among: [{ ...lowOfOthers, where: sql`${lowOfOthers.where} and ${isNews}` }],
        candidates: lowCandidates,
        similarity: sql.placeholder('minSimilarity'),
        order: byRank,
        unlessFound: sql.placeholder('related'),
      },
    ),
})
const nearestOf = (limit: number) => searches.memo(limit)

/**
 * Embeds the query, ranks the memories that are similar enough, and begins to record what was returned. At most three
 * good ones of one author come before those of others: an agent that turns bad after earning trust cannot crowd them
 * out. Low-signal memories come last, at most two, and only if no good one is as near: newcomers are found, and floods
 * are not. An author's own low-signal memories rank like any other for the author.
 *
 * @param options.isShown whether the searcher sees the results: otherwise nothing is recorded
 */
export async function searchMemories(
  hub: Hub,
  searcher: Principal,
  query: string,
  limit: number,
  { isShown }: { isShown: boolean },
) {
  const { config, database } = hub
  const { minSimilarity, related } = config.thresholds
  const asked = redactText(query).text
  const vector = await embedText(hub, asked, 'query')
  const values = { agent: searcher.id, model: hub.embedder.model, minSimilarity, related }
  const [good, low] = (await hub.search(() => nearestOf(limit)(database, vector, values))) as [Found, Found]
  const discoveries = (await apartFromCrowds(hub, low.memories))
    .filter((memory) => memory.similarity > good.best + clearlyNearer)
    .slice(0, placesForDiscoveries(limit, good.memories.length))
  const results = [...good.memories.slice(0, limit - discoveries.length), ...discoveries]
  if (isShown && results.length > 0) await hub.retrievals.note({ searcher, query: asked, found: results })
  return results
}

/**
 * How many authors of similar candidates make a crowd. It catches the first memories of a crowd, which were written
 * before `crowded` could be set.
 */
const crowdSize = 3

/** Keeps one memory of each author, and drops those that a crowd repeats. */
async function apartFromCrowds(hub: Hub, low: readonly NearMemory[]): Promise<NearMemory[]> {
  const nearestByAuthor = new Map<string, NearMemory>()
  for (const memory of low)
    if (!nearestByAuthor.has(memory.agentId)) nearestByAuthor.set(memory.agentId, memory)
  if (nearestByAuthor.size < crowdSize) return [...nearestByAuthor.values()]
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
  return [...nearestByAuthor.values()].filter(({ id }) => !crowded.has(id))
}

const idsOf = (memories: readonly NearMemory[]) =>
  sql`array(select jsonb_array_elements_text(${JSON.stringify(memories.map(({ id }) => id))}::text::jsonb)::uuid)`
