import { rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import type { Principal } from '../auth/principal.ts'
import type { Hub } from '../hub.ts'
import { promoteAuthors } from '../trust/promotion.ts'
import { embedText } from './embed.ts'
import { type NearMemory, nearestMemories, type Shelf } from './nearest.ts'

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

/**
 * Embeds the query, takes what is similar enough, ranks it and notes what was returned. What counts as low
 * signal comes after everything else, one or two of it, and only where nothing good is as near: so
 * newcomers are found, and floods are not. To its own author it is like any other.
 */
export async function searchMemories(hub: Hub, searcher: Principal, query: string, limit: number) {
  const { config, database, call } = hub
  const vector = await embedText(hub, query, 'query')
  const pool = limit * candidatesPerResult
  const own = sql`m.agent_id = ${searcher.id}::uuid`
  const find = (shelf: Shelf, allowed: typeof own, candidates: number): Promise<NearMemory[]> =>
    call(() => nearestMemories(database, vector, allowed, candidates, shelf))
  const isSimilar = ({ similarity }: NearMemory): boolean => similarity >= config.thresholds.minSimilarity

  const good = (await find('good', sql`(m.quality = 0 or ${own})`, pool)).filter(isSimilar)
  const best = Math.max(-1, ...good.map(({ similarity }) => similarity))
  // Looked for by itself: a flood of it cannot fill the candidates.
  const low =
    best < config.thresholds.related
      ? (
          await find('low', sql`m.quality = -1 and not m.crowded and not ${own} and ${isNews}`, lowCandidates)
        ).filter(isSimilar)
      : []
  const discoveries = (await apartFromCrowds(hub, low))
    .filter(({ similarity }) => similarity > best + clearlyNearer)
    .sort(byRank)
    .slice(0, Math.min(mostDiscoveries, limit))
  const results = [...good.sort(byRank).slice(0, limit - discoveries.length), ...discoveries]
  if (results.length > 0) await call(() => noteRetrievals(hub, searcher, query, results))
  return results
}

/** Who repeats what another agent wrote, or says again what is known to be good, does not get its place. */
const isNews = sql`not exists (
  select from memory_links l join memories earlier on earlier.id = l.related_id
  where l.memory_id = m.id and earlier.agent_id <> m.agent_id and earlier.deleted_at is null
    and (l.relation = 'duplicate_candidate' and earlier.quality > -2 or earlier.quality = 0)
)`

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

const rankOf = ({ similarity, retrievalCount, sourceUrl }: NearMemory): number =>
  similarity +
  weights.retrievals * Math.min(1, Math.log1p(retrievalCount) / Math.log1p(manyRetrievals)) +
  (sourceUrl ? weights.source : 0)

const byRank = (a: NearMemory, b: NearMemory): number => rankOf(b) - rankOf(a) || (a.id < b.id ? -1 : 1)

/**
 * Every returned memory is an event. It counts for a memory once for each agent, and only agents that are
 * trusted and did not write it count: nobody lifts himself or his friends by searching.
 */
async function noteRetrievals(
  hub: Hub,
  searcher: Principal,
  query: string,
  results: readonly NearMemory[],
): Promise<void> {
  const { database } = hub
  const events = JSON.stringify(results.map(({ id, similarity }) => ({ id, similarity })))
  const counts = searcher.tier !== 'unverified'
  const now = sql`to_timestamp(${hub.clock()}::float8 / 1000)`
  await database.execute(sql`
    with events as (
      select m.id as memory_id, m.agent_id as author, (event ->> 'similarity')::real as similarity
      from jsonb_array_elements(${events}::text::jsonb) as event join memories m on m.id = (event ->> 'id')::uuid
      -- A crash of the server may cost a few counts; a search does not wait for its disk.
      where set_config('synchronous_commit', 'off', true) = 'off'
    ), counted as (
      insert into retrieval_events (agent_id, memory_id, query, similarity, created_at, counted)
      select ${searcher.id}::uuid, memory_id, ${query}, similarity, ${now}, true
      from events where ${counts}::boolean and author <> ${searcher.id}::uuid order by memory_id
      on conflict (memory_id, agent_id) where counted do nothing
      returning memory_id
    ), raised as (
      update memories set retrieval_count = retrieval_count + 1
      where id in (select id from memories where id in (select memory_id from counted) order by id for update)
    )
    insert into retrieval_events (agent_id, memory_id, query, similarity, created_at)
    select ${searcher.id}::uuid, memory_id, ${query}, similarity, ${now}
    from events where memory_id not in (select memory_id from counted)`)
  if (!counts) return
  const unverified = results.filter(({ trustLevel }) => trustLevel === 0)
  await promoteAuthors(hub, [...new Set(unverified.map(({ agentId }) => agentId))])
}
