import { prepared, rowsOf, trustLevels } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import type { Principal } from '../access/principal.ts'
import type { HubParts, Retrieval, RetrievalLog } from '../hub.ts'
import { type Log, loggedError } from '../log.ts'
import { promoteAuthors } from '../trust/promotion.ts'

/** The most searches that one statement records, so that none takes long. */
const mostTogether = 25
/** When more than this many wait, a search waits for the running statement, so that the database keeps up. */
const mostWaiting = 50
/**
 * Longest that a request waits for retrievals to be recorded, in milliseconds: they may be held up when the request is
 * not.
 */
const patienceMs = 1000

/**
 * Records what searches return while they are answered. Searches that end while a statement is running share the next
 * one, so each adds less the more there are. Retrievals that cannot be recorded are logged and lost, because their
 * searches have already been answered.
 */
export function createRetrievalLog(hub: HubParts, log: Log): RetrievalLog {
  let batch: Retrieval[] = []
  let current = Promise.resolve()
  let last = current
  let waiting = 0
  let running = 0

  const record = async (together: readonly Retrieval[]): Promise<void> => {
    const orLog = (event: string) => (error: unknown) => {
      try {
        log({ level: 'error', event, searches: together.length, ...loggedError(error) })
      } catch {
        // A failing log only loses its line: all later searches wait for this one.
      }
    }
    await insertRetrievals(hub, together).catch(orLog('retrievals lost'))
    // An author that is not promoted now is promoted by the next retrieval, or by maintenance.
    await promoteAuthors(hub, authorsToPromote(together)).catch(orLog('promotion failed'))
    waiting -= together.length
  }

  /** A batch that takes retrievals until the statements before it have ended. */
  const nextBatch = (): Retrieval[] => {
    const next: Retrieval[] = []
    last = last.then(() => {
      if (batch === next) batch = []
      current = record(next)
      return current
    })
    return next
  }

  const briefly = async (recording: Promise<void>): Promise<void> => {
    if (waiting === 0) return
    let timer: NodeJS.Timeout | undefined
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs)
    })
    await Promise.race([recording, tooLong])
    clearTimeout(timer)
  }

  return {
    async during(search) {
      running++
      try {
        if (running === 1) await briefly(last)
        return await search()
      } finally {
        running--
      }
    },
    async note(retrieval) {
      if (batch.length === 0 || batch.length >= mostTogether) batch = nextBatch()
      batch.push(retrieval)
      if (++waiting > mostWaiting) await briefly(current)
    },
    nearlySettled: () => briefly(last),
    settled: () => last,
  }
}

/**
 * Records an event for every returned memory. Each agent counts once per memory, and only if it is trusted and is not
 * the author: no agent can promote itself or its friends by searching.
 */
async function insertRetrievals(hub: HubParts, retrievals: readonly Retrieval[]): Promise<void> {
  const events = retrievals.flatMap(({ searcher, query, found }) =>
    found.map(({ id, similarity }) => ({
      agent_id: searcher.id,
      memory_id: id,
      query,
      similarity,
      counts: countsForTrust(searcher),
    })),
  )
  const values = { events: JSON.stringify(events), now: hub.clock() }
  await hub.call(() => insertEvents(hub.database, values))
}

/** The unverified authors of memories that trusted agents got. */
function authorsToPromote(retrievals: readonly Retrieval[]): string[] {
  const useful = retrievals.filter(({ searcher }) => countsForTrust(searcher)).flatMap(({ found }) => found)
  const unverified = useful.filter(({ trustLevel }) => trustLevel === trustLevels.unverified)
  return [...new Set(unverified.map(({ agentId }) => agentId))]
}

const countsForTrust = ({ tier }: Principal): boolean => tier !== 'unverified'

const now = sql`to_timestamp(${sql.placeholder('now')}::float8 / 1000)`

const insertEvents = prepared(sql`
  with event as materialized (
    select event.* from json_to_recordset(${sql.placeholder('events')}::text::json)
        as event (agent_id uuid, memory_id uuid, query text, similarity real, counts boolean),
      -- A crash of the server may cost a few counts; a search does not wait for its disk.
      set_config('synchronous_commit', 'off', true)
  ), present as materialized (
    -- None is deleted any more before its event is written; those that were deleted are left out.
    select id, agent_id from memories where id in (select memory_id from event) order by id for key share
  ), returned as materialized (
    select event.agent_id, query, memory_id, similarity,
      counts and present.agent_id <> event.agent_id
        and row_number() over (partition by event.agent_id, memory_id) = 1 as may_count
    from event join present on present.id = memory_id
  ), counted as (
    insert into retrieval_events (agent_id, memory_id, query, similarity, created_at, counted)
    select agent_id, memory_id, query, similarity, ${now}, true
    from returned where may_count order by memory_id, agent_id
    on conflict (memory_id, agent_id) where counted do nothing
    returning memory_id, agent_id
  ), raised as (
    update memories set retrieval_count = retrieval_count + agents
    from (
      select m.id, agents from memories m join (
        select memory_id, count(*) as agents from counted group by memory_id
      ) as news on news.memory_id = m.id order by m.id for no key update of m
    ) as locked where memories.id = locked.id
  )
  insert into retrieval_events (agent_id, memory_id, query, similarity, created_at)
  select agent_id, memory_id, query, similarity, ${now}
  from returned where not may_count or (memory_id, agent_id) not in (select memory_id, agent_id from counted)`)

/** How long the questions of searches are kept. */
const questionDays = 30

/** Searches whose questions one statement forgets. */
const forgottenTogether = 2000

/**
 * Forgets old questions. Retrievals that count stay, without the question: ranking and promotion only need to know who
 * found which memory.
 */
export async function forgetQuestions({ database, call, clock }: HubParts): Promise<number> {
  const before = new Date(clock() - questionDays * 24 * 60 * 60 * 1000).toISOString()
  for (let forgotten = 0; ; ) {
    const [done] = await call(() => rowsOf<{ events: number }>(database, forgetSome(before)))
    forgotten += done?.events ?? 0
    if ((done?.events ?? 0) < forgottenTogether) return forgotten
  }
}

const forgetSome = (before: string) => sql`
  with old as materialized (
    select id, counted from retrieval_events where created_at < ${before}::timestamptz and query <> ''
    order by created_at limit ${forgottenTogether}
  ), deleted as (
    delete from retrieval_events where id in (select id from old where not counted)
  ), emptied as (
    -- One that has ceased to count meanwhile keeps its question, by which the next maintenance finds it.
    update retrieval_events set query = '' where counted and id in (select id from old where counted)
  )
  select count(*)::int as events from old`
