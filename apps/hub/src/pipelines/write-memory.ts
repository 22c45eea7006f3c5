import { MemoryError, MemoryErrorCode, redactText } from '@recall/core'
import { memories, memoryLinks } from '@recall/store-postgres'
import type { Principal } from '../auth/principal.ts'
import type { Hub } from '../hub.ts'
import { newShortId } from '../short-id.ts'
import { refuseWhenReadOnly } from '../trust/heartbeat.ts'
import { embedText } from './embed.ts'
import { type NearMemory, nearestMemories, visibleTo } from './nearest.ts'

export interface NewMemory {
  content: string
  tags: string[]
  source_url?: string | undefined
}

/** Neighbours that are looked at for duplicates and links. */
const neighbours = 10

/** So many near-duplicates of an agent's own make a template. */
const templateCopies = 3

/**
 * The author is known and the input valid. Embeds the content, looks for what it repeats, then keeps memory and
 * links in one transaction; no transaction is open while the provider works.
 *
 * @throws MemoryError RATE_LIMITED, FORBIDDEN while the hub is read-only, UNAVAILABLE without embedding
 */
export async function writeMemory(hub: Hub, author: Principal, input: NewMemory) {
  const { config, database, embedder, call } = hub
  await refuseWhenReadOnly(hub)
  const { text: content, counts } = redactText(input.content)
  const tags = input.tags.map((tag) => redactText(tag).text)
  const vector = await embedText(hub, content, 'document')

  const near = (await call(() => nearestMemories(database, vector, visibleTo(author.id), neighbours))).filter(
    ({ similarity }) => similarity >= config.thresholds.related,
  )
  const links = near.map((memory) => ({ memory, relation: relationOf(hub, memory) }))
  const [closest] = near
  const copied = closest && closest.similarity >= config.thresholds.autoDuplicate ? closest : undefined
  const quality = author.tier === 'unverified' || copied || isTemplate(hub, author, near) ? -1 : 0

  const saved = await call(() =>
    database.transaction(async (transaction) => {
      const [row] = await transaction
        .insert(memories)
        .values({
          shortId: newShortId(),
          agentId: author.id,
          content,
          tags,
          sourceUrl: input.source_url ?? null,
          createdAt: new Date(hub.clock()),
          embedding: vector,
          embeddingModel: embedder.model,
          quality,
          duplicateOf: copied?.id ?? null,
        })
        .returning({ id: memories.id, shortId: memories.shortId })
      if (!row) throw new MemoryError('the memory was not kept', MemoryErrorCode.WRITE_FAILED)
      if (links.length > 0) {
        await transaction.insert(memoryLinks).values(
          links.map(({ memory, relation }) => ({
            memoryId: row.id,
            relatedId: memory.id,
            relation,
            similarity: memory.similarity,
          })),
        )
      }
      return row
    }),
  )
  const warnings = [
    ...(content.length < config.thresholds.shortContent
      ? [
          `content is shorter than ${config.thresholds.shortContent} characters: say what failed, why, and what helped`,
        ]
      : []),
    ...(input.source_url ? [] : ['there is no source_url: a link lets others check']),
    ...Object.keys(counts).map((kind) => `a secret was replaced before anything was kept: ${kind}`),
  ]
  return {
    success: true as const,
    id: saved.id,
    short_id: saved.shortId,
    status: 'saved' as const,
    similar: links.map(({ memory, relation }) => ({
      id: memory.id,
      short_id: memory.shortId,
      similarity: memory.similarity,
      relation,
    })),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}

const relationOf = ({ config }: Hub, { similarity }: NearMemory): 'duplicate_candidate' | 'similar' =>
  similarity >= config.thresholds.duplicate ? 'duplicate_candidate' : 'similar'

/** Posting the same thing with small changes does not make it more true. */
const isTemplate = ({ config }: Hub, author: Principal, near: readonly NearMemory[]): boolean =>
  near.filter(({ agentId, similarity }) => agentId === author.id && similarity >= config.thresholds.duplicate)
    .length >= templateCopies
