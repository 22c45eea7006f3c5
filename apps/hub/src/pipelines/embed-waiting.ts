import { isMemoryError } from '@recall/core'
import { agents, memories, rowsOf } from '@recall/store-postgres'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { tierOf } from '../auth/principal.ts'
import type { Hub } from '../hub.ts'
import { currentModel } from './current-model.ts'
import { embedText } from './embed.ts'
import { judge, keepLinks } from './write-memory.ts'

interface Waiting {
  id: string
  agentId: string
  content: string
}

/** Claimed at a time; each is embedded by itself. */
const claimed = 16

/** Longest pause between two attempts, in seconds; the first is 2, and each is twice the one before. */
const longestPause = 600

/**
 * Gives memories their vectors that were kept without, and does what a write otherwise does. The rows are the
 * queue: any number of hubs work on it, each row is claimed by one of them for a while, and a hub that dies
 * loses nothing.
 *
 * @returns how many got their vector
 */
export async function embedWaiting(hub: Hub): Promise<number> {
  let done = 0
  for (const waiting of await claim(hub)) {
    try {
      if (await embedOne(hub, waiting)) done++
    } catch (error) {
      // Its turn comes again; there is no use in asking a provider that is down for the others.
      if (isMemoryError(error)) return done
      throw error
    }
  }
  return done
}

/** From now on these rows are ours, until their pause is over. None are while the memories have another model. */
const claim = ({ database, call, clock, config, embedder }: Hub): Promise<Waiting[]> =>
  call(() =>
    rowsOf<Waiting>(
      database,
      sql`
        with next as (
          select id from memories
          where ${currentModel} = ${embedder.model} and embedding is null and deleted_at is null
            and (embed_after is null or embed_after <= to_timestamp(${clock()}::float8 / 1000))
          order by created_at limit ${claimed} for update skip locked
        )
        update memories m set embed_attempts = least(embed_attempts + 1, 30),
          embed_after = to_timestamp(${clock()}::float8 / 1000)
            + make_interval(secs => ${claimed * (config.embedTimeoutMs / 1000)}::float8 + least(${longestPause}, 2 ^ embed_attempts)::float8)
        from next where m.id = next.id
        returning m.id, m.agent_id as "agentId", m.content`,
    ),
  )

async function embedOne(hub: Hub, { id, agentId, content }: Waiting): Promise<boolean> {
  const { database, call, embedder } = hub
  const vector = await embedText(hub, content, 'document')
  const [author] = await call(() =>
    database.select({ trustLevel: agents.trustLevel }).from(agents).where(eq(agents.id, agentId)),
  )
  const tier = tierOf(author?.trustLevel ?? 0)
  const { links, values } = await judge(hub, { id: agentId, tier }, vector, id)
  return call(() =>
    database.transaction(async (transaction) => {
      const [kept] = await transaction
        .update(memories)
        .set({
          ...values,
          // What was put in quarantine meanwhile stays there.
          quality: sql`case when ${memories.quality} <= -2 then ${memories.quality} else ${values.quality}::smallint end`,
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
        .returning({ id: memories.id })
      if (kept) await keepLinks(transaction, id, links)
      return kept !== undefined
    }),
  )
}
