import {
  entries,
  idempotencyKeys,
  memories,
  privateNamespaces,
  rateLimits,
  sweepAll,
} from '@recall/store-postgres'
import { and, isNull, lt, sql } from 'drizzle-orm'
import type { Hub } from './hub.ts'
import type { Log } from './log.ts'
import { embedWaiting } from './pipelines/embed-waiting.ts'
import { forgetQuestions } from './pipelines/note-retrievals.ts'
import { rememberedMs } from './routes/idempotency.ts'
import { pauseWritesWhenSilent } from './trust/heartbeat.ts'
import { promoteAuthors } from './trust/promotion.ts'
import { recomputeQuality } from './trust/quarantine.ts'

/** Does the work that no request triggers. Running it twice, or in two hubs at once, does no harm. */
export async function maintainHub(hub: Hub, log: Log) {
  let embedded = 0
  for (;;) {
    const some = await embedWaiting(hub, log)
    if (some === 0) break
    embedded += some
  }
  const waiting = await hub.call(() =>
    hub.database.$count(memories, and(isNull(memories.embedding), isNull(memories.deletedAt))),
  )
  const writable = await pauseWritesWhenSilent(hub)
  await promoteAuthors(hub)
  const quality = await recomputeQuality(hub)
  const old = lt(idempotencyKeys.createdAt, new Date(hub.clock() - rememberedMs))
  const forgotten = await hub.call(() =>
    hub.database.delete(idempotencyKeys).where(old).returning({ key: idempotencyKeys.key }),
  )
  await hub.call(() =>
    hub.database.delete(rateLimits).where(lt(rateLimits.expire, new Date(Date.now() - 60 * 60 * 1000))),
  )
  const forgottenQuestions = await forgetQuestions(hub)
  const expiredEntries = await sweepAll(hub.database, hub.clock(), hub.config.databaseTimeoutMs)
  await hub.call(() => hub.database.delete(privateNamespaces).where(canBeFreed(hub)))
  const gone = { forgottenAnswers: forgotten.length, forgottenQuestions, expiredEntries }
  return { embedded, waiting, writable, ...quality, ...gone }
}

/** Empty namespaces of agents that have reached their limit: only for those is it worth scanning the entries. */
const canBeFreed = ({ config }: Hub) => sql`
  ${privateNamespaces.agentId} in (
    select agent_id from private_namespaces group by agent_id having count(*) >= ${config.privateNamespaces}
  ) and not exists (
    select from ${entries} where ${entries.tenant} = ${privateNamespaces.agentId}::text
      and ${entries.namespace} = ${privateNamespaces.namespace}
  )`
