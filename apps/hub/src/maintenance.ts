import {
  entries,
  idempotencyKeys,
  memories,
  privateNamespaces,
  rateLimits,
  rowsOf,
  sweepAll,
} from '@recall/store-postgres'
import { and, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Hub } from './hub.ts'
import type { Log } from './log.ts'
import { embedWaiting } from './pipelines/embed-waiting.ts'
import { forgetQuestions } from './pipelines/note-retrievals.ts'
import { forgetDigests } from './pipelines/words-digest.ts'
import { rememberedMs } from './routes/idempotency.ts'
import { pauseWritesWhenSilent } from './trust/heartbeat.ts'
import { promoteAuthors } from './trust/promotion.ts'
import { recomputeQuality } from './trust/recompute-quality.ts'

/**
 * Does the work that no request triggers. Running it twice, or in two hubs at once, does no harm.
 *
 * @param stop leaves memories that still have to be embedded to the next run
 */
export async function maintainHub(hub: Hub, log: Log, stop?: AbortSignal) {
  // Runs before the steps that depend on other services or look at all memories: if these fail, nothing is kept longer
  // than was promised.
  const gone = await forgetOld(hub)
  const writable = await pauseWritesWhenSilent(hub)
  let embedded = 0
  for (;;) {
    const some = await embedWaiting(hub, log, stop)
    if (some === 0) break
    embedded += some
  }
  const waiting = await hub.call(() =>
    hub.database.$count(memories, and(isNull(memories.embedding), isNull(memories.deletedAt))),
  )
  await promoteAuthors(hub)
  const quality = await recomputeQuality(hub)
  await hub.call(() => hub.database.delete(privateNamespaces).where(canBeFreed(hub)))
  return { embedded, waiting, writable, ...quality, ...gone }
}

/**
 * The clocks of hubs and clients may differ by this much: an entry that has expired by one clock may still be read by
 * another. No read returns an entry that has expired by its own clock.
 */
const clocksApart = 60 * 60 * 1000

async function forgetOld(hub: Hub) {
  const { database, clock, config } = hub
  const answered = new Date(clock() - rememberedMs)
  const forgottenAnswers = await deleteSome(hub, idempotencyKeys, lt(idempotencyKeys.createdAt, answered))
  const counted = new Date(Date.now() - 60 * 60 * 1000)
  await deleteSome(hub, rateLimits, lt(rateLimits.expire, counted))
  const forgottenQuestions = await forgetQuestions(hub)
  await forgetDigests(hub)
  const expiredEntries = await sweepAll(database, clock() - clocksApart, config.databaseTimeoutMs)
  return { forgottenAnswers, forgottenQuestions, expiredEntries }
}

/** Rows that one statement deletes: it may not take long, however many there are. */
const deletedTogether = 5000

/** @returns how many rows were deleted */
async function deleteSome({ database, call }: Hub, table: PgTable, old: SQL): Promise<number> {
  for (let deleted = 0; ; ) {
    const rows = await call(() =>
      rowsOf(
        database,
        sql`
          delete from ${table} where ${old}
            and ctid = any(array(select ctid from ${table} where ${old} limit ${deletedTogether})) returning 1`,
      ),
    )
    deleted += rows.length
    if (rows.length < deletedTogether) return deleted
  }
}

/** Empty namespaces of agents that have reached their limit: only these are worth scanning the entries for. */
const canBeFreed = ({ config }: Hub) => sql`
  ${privateNamespaces.agentId} in (
    select agent_id from private_namespaces group by agent_id having count(*) >= ${config.privateNamespaces}
  ) and not exists (
    select from ${entries} where ${entries.tenant} = ${privateNamespaces.agentId}::text
      and ${entries.namespace} = ${privateNamespaces.namespace}
  )`
