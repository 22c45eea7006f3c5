import { errorStatus, isMemoryError, type MemoryError, MemoryErrorCode } from '@recall/core'
import { memories, memoryLinks, rowsOf } from '@recall/store-postgres'
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import type { Log } from '../log.ts'
import { freeCopiesOfCopies } from '../trust/marked-copies.ts'
import { isTrusted } from '../trust/originals.ts'
import { qualities } from '../trust/quality.ts'
import { currentModel } from './current-model.ts'
import { embedText } from './embed.ts'
import { judgeMemory, keepLinks, lockLinked, markLaterCopies } from './judge-memory.ts'
import { wordsDigest } from './words-digest.ts'

interface Waiting {
  id: string
  agentId: string
  content: string
  createdAt: string
}

/** Rows claimed at a time. Each is embedded by its own call. */
const claimed = 16

/** Longest pause between two attempts, in seconds. The first pause is 2 seconds; each one doubles. */
const longestPause = 600

/**
 * Embeds memories that were stored without a vector, and completes their writes. The rows are the queue: any number of
 * hubs may work on it, each row is claimed by one of them for a limited time, and a hub that dies loses nothing. When
 * the provider or the database does not answer, the run stops and logs it; a text that the model refuses is left for
 * later, and if all claimed ones are refused, others are claimed.
 *
 * @param stop ends the run after the current memory; the others are free for other hubs at once
 * @returns how many memories got their vector; 0 when nothing can be tried now
 * @throws MemoryError for any other failure; the rows are tried again after their pause
 */
export async function embedWaiting(hub: Hub, log: Log, stop?: AbortSignal): Promise<number> {
  for (;;) {
    const rows = await claim(hub)
    const { embedded, isStopped } = await embedClaimed(hub, log, rows, stop)
    if (embedded > 0 || isStopped || rows.length === 0) return embedded
  }
}

async function embedClaimed(hub: Hub, log: Log, rows: Waiting[], stop?: AbortSignal) {
  let embedded = 0
  for (const [i, waiting] of rows.entries()) {
    if (stop?.aborted) {
      await release(hub, rows.slice(i))
      return { embedded, isStopped: true }
    }
    try {
      if (await embedOne(hub, waiting)) embedded++
    } catch (error) {
      if (isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) {
        log({ level: 'warn', event: 'text refused', says: saidBy(error) })
        continue
      }
      // A provider that is down would fail for the other rows, too: release them untried, so that they do not wait.
      const untried = rows.slice(i + 1)
      await release(hub, untried, waiting).catch((failure: { code?: string }) => {
        log({
          level: 'warn',
          event: 'claimed rows of the queue wait',
          rows: rows.length - i,
          code: failure.code,
        })
      })
      if (!isMemoryError(error) || !errorStatus[error.code].retryable) throw error
      log({
        level: 'warn',
        event: 'queue stopped',
        untried: untried.length,
        code: error.code,
        says: saidBy(error),
      })
      return { embedded, isStopped: true }
    }
  }
  return { embedded, isStopped: false }
}

/** What the provider answered. */
const saidBy = (error: MemoryError): string =>
  isMemoryError(error.cause) ? error.cause.message : error.message

/** Claims rows until their pause is over, or none while the memories have another model. */
function claim({ database, call, clock, config, embedder }: Hub): Promise<Waiting[]> {
  const now = sql`to_timestamp(${clock()}::float8 / 1000)`
  const claimedFor = sql`make_interval(secs => ${claimed * (config.embedTimeoutMs / 1000)}::float8)`
  return call(() =>
    rowsOf<Waiting>(
      database,
      sql`
        with next as (
          select id from memories
          where ${currentModel} = ${embedder.model} and embedding is null and deleted_at is null
            and (embed_after is null or embed_after <= ${now}
              -- Set by a clock that ran ahead.
              or embed_after > ${now} + ${claimedFor} + make_interval(secs => ${longestPause}))
          -- What failed before comes last: a text that the provider never takes holds up no other.
          order by embed_attempts, created_at limit ${claimed} for update skip locked
        ), claimed as (
          update memories m set embed_attempts = least(embed_attempts + 1, 30),
            embed_after = ${now} + ${claimedFor} + ${pause(sql`embed_attempts + 1`)}
          from next where m.id = next.id
          returning m.id, m.agent_id, m.content, m.embed_attempts, m.created_at
        )
        select id, agent_id as "agentId", content, created_at::text as "createdAt" from claimed order by embed_attempts, created_at`,
    ),
  )
}

/** Shortens the claim: the failed row waits for its pause, the untried ones are free at once. */
const release = (
  { database, call, clock }: Hub,
  untried: readonly Waiting[],
  failed?: Waiting,
): Promise<unknown> =>
  call(() =>
    database.execute(sql`
      update memories set
        embed_attempts = case when id = ${failed?.id ?? null}::uuid then embed_attempts else greatest(embed_attempts - 1, 0) end,
        embed_after = case when id = ${failed?.id ?? null}::uuid
          then to_timestamp(${clock()}::float8 / 1000) + ${pause(sql`embed_attempts`)} end
      where embedding is null and id in (
        select jsonb_array_elements_text(${JSON.stringify([...untried, ...(failed ? [failed] : [])].map(({ id }) => id))}::text::jsonb)::uuid
      )`),
  )

/** The pause after this many attempts, as an SQL interval. */
const pause = (attempts: SQL): SQL =>
  sql`make_interval(secs => least(${longestPause}, 2 ^ (${attempts}))::float8)`

async function embedOne(hub: Hub, { id, agentId, content, createdAt }: Waiting): Promise<boolean> {
  const { database, call, embedder } = hub
  const vector = await embedText(hub, content, 'document')
  const { links, values } = await judgeMemory(hub, agentId, content, vector, { id, createdAt })
  const isKept = await call(() =>
    database.transaction(async (transaction) => {
      const left = await lockLinked(transaction, links)
      // It may repeat something that its author had already deleted in quarantine when it was written, or has deleted
      // since.
      const original = sql`coalesce(${memories.duplicateOf}, (
        select o.id from memories o
        where o.agent_id = ${agentId}::uuid and o.words_digest = ${wordsDigest(agentId, content)} and o.quality <= ${qualities.quarantined}
        order by o.created_at, o.id limit 1
      ), (
        select o.id from memories o where o.id = ${values.duplicateOf}::uuid
          and (o.quality > ${qualities.quarantined} and o.deleted_at is null
            or o.quality <= ${qualities.quarantined} and o.agent_id = ${agentId}::uuid)
      ))`
      const [kept] = await transaction
        .update(memories)
        .set({
          ...values,
          duplicateOf: original,
          // A memory that was put in quarantine meanwhile stays there.
          quality: sql`case
            when ${memories.quality} <= ${qualities.quarantined} then ${memories.quality}
            when ${original} is null and ${isTrusted(sql`${agentId}::uuid`)} then ${values.quality}::smallint
            else ${qualities.lowSignal} end`,
          embeddingModel: embedder.model,
          embedAfter: null,
        })
        .where(
          and(
            eq(memories.id, id),
            isNull(memories.embedding),
            isNull(memories.deletedAt),
            eq(currentModel, embedder.model),
          ),
        )
        .returning({ duplicateOf: memories.duplicateOf })
      if (!kept) return false
      await keepLinks(transaction, id, left)
      // A tombstone has no vector, so it is not among these.
      if (kept.duplicateOf && kept.duplicateOf !== values.duplicateOf) {
        const toTombstone = {
          memoryId: id,
          relatedId: kept.duplicateOf,
          relation: 'duplicate_candidate',
          similarity: 1,
        }
        await transaction.insert(memoryLinks).values(toTombstone).onConflictDoNothing()
      }
      await markLaterCopies(hub, transaction, id, left)
      return true
    }),
  )
  if (isKept && links.some(({ isLater }) => isLater))
    await freeCopiesOfCopies(hub, { on: 'o', condition: sql`o.id = ${id}::uuid` })
  return isKept
}
