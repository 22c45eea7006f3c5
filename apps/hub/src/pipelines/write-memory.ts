import { MemoryError, MemoryErrorCode, redactText } from '@recall/core'
import { type Database, memories, memoryLinks } from '@recall/store-postgres'
import type { Principal } from '../auth/principal.ts'
import type { Hub } from '../hub.ts'
import type { KeepAnswer } from '../idempotency.ts'
import { newShortId } from '../short-id.ts'
import { refuseWhenReadOnly } from '../trust/heartbeat.ts'
import { embedText } from './embed.ts'
import { type NearMemory, nearestMemories, visible } from './nearest.ts'

export interface NewMemory {
  content: string
  tags: string[]
  source_url?: string | undefined
}

/** Neighbours that are looked at for duplicates and links. */
const neighbours = 10

const nearestVisible = nearestMemories({ shelf: 'visible', allowed: visible, candidates: neighbours + 1 })

/** So many near-duplicates of an agent's own make a template. */
const templateCopies = 5

/** So many others of little standing who say the same make a crowd. */
const crowdSize = 3

/** What a writer is answered. */
export interface SavedAnswer {
  success: true
  id: string
  short_id: string
  status: 'saved' | 'queued'
  similar: { id: string; short_id: string; similarity: number; relation: string }[]
  warnings?: string[]
}

/**
 * The author is known and the input valid. Embeds the content, looks for what it repeats, then keeps memory and
 * links in one transaction; no transaction is open while the provider works. With `embedAsync` the memory is kept
 * first, and the rest is done by `embedWaiting`.
 *
 * @param keep called within the transaction that writes, with the answer
 * @throws MemoryError RATE_LIMITED, FORBIDDEN while the hub is read-only, UNAVAILABLE without embedding
 */
export async function writeMemory(
  hub: Hub,
  author: Principal,
  input: NewMemory,
  keep: KeepAnswer<SavedAnswer> = async () => {},
): Promise<SavedAnswer> {
  const { config, database, embedder, call } = hub
  await refuseWhenReadOnly(hub)
  const { text: content, counts } = redactText(input.content)
  const judged = config.embedAsync
    ? undefined
    : await judge(hub, author, await embedText(hub, content, 'document'))
  const written = {
    agentId: author.id,
    content,
    tags: input.tags.map((tag) => redactText(tag).text),
    sourceUrl: input.source_url ?? null,
    createdAt: new Date(hub.clock()),
    embeddingModel: embedder.model,
    // Without a vector no search finds it; what it is worth is told by its neighbours.
    ...(judged?.values ?? { quality: -1 }),
  }
  const warnings = warningsFor(hub, content, input, Object.keys(counts))

  return call(() =>
    database.transaction(async (transaction) => {
      const [row] = await transaction
        .insert(memories)
        .values({ shortId: newShortId(), ...written })
        .returning({ id: memories.id, shortId: memories.shortId })
      if (!row) throw new MemoryError('the memory was not kept', MemoryErrorCode.WRITE_FAILED)
      if (judged) await keepLinks(transaction, row.id, judged.links)
      const answer: SavedAnswer = {
        success: true,
        id: row.id,
        short_id: row.shortId,
        status: judged ? 'saved' : 'queued',
        similar: (judged?.links ?? []).map(({ memory, relation }) => ({
          id: memory.id,
          short_id: memory.shortId,
          similarity: memory.similarity,
          relation,
        })),
        ...(warnings.length > 0 ? { warnings } : {}),
      }
      await keep(transaction, answer)
      return answer
    }),
  )
}

interface Link {
  memory: NearMemory
  relation: 'duplicate_candidate' | 'similar'
}

/** What the vector of a new memory says of it: its neighbours, and what it is worth at first. */
export async function judge(
  hub: Hub,
  author: Pick<Principal, 'id' | 'tier'>,
  vector: number[],
  self?: string,
) {
  const { config, database, call } = hub
  const [seen] = await call(() => nearestVisible(database, vector, { agent: author.id }))
  const around = (seen?.memories ?? []).filter(({ id }) => id !== self).slice(0, neighbours)
  const near = around.filter(({ similarity }) => similarity >= config.thresholds.related)
  const links = near.map((memory): Link => ({ memory, relation: relationOf(hub, memory) }))
  const [closest] = near
  const copied = closest && closest.similarity >= config.thresholds.autoDuplicate ? closest : undefined
  const quality = author.tier === 'unverified' || copied || isTemplate(hub, author, near) ? -1 : 0
  const crowded = isCrowd(hub, author, around)
  return { links, values: { embedding: vector, quality, crowded, duplicateOf: copied?.id ?? null } }
}

export async function keepLinks(
  transaction: Database,
  memoryId: string,
  links: readonly Link[],
): Promise<void> {
  if (links.length === 0) return
  await transaction.insert(memoryLinks).values(
    links.map(({ memory, relation }) => ({
      memoryId,
      relatedId: memory.id,
      relation,
      similarity: memory.similarity,
    })),
  )
}

const warningsFor = (
  { config }: Hub,
  content: string,
  input: NewMemory,
  secrets: readonly string[],
): string[] => [
  ...(content.length < config.thresholds.shortContent
    ? [
        `content is shorter than ${config.thresholds.shortContent} characters: say what failed, why, and what helped`,
      ]
    : []),
  ...(input.source_url ? [] : ['there is no source_url: a link lets others check']),
  ...secrets.map((kind) => `a secret was replaced before anything was kept: ${kind}`),
]

const relationOf = ({ config }: Hub, { similarity }: NearMemory): 'duplicate_candidate' | 'similar' =>
  similarity >= config.thresholds.duplicate ? 'duplicate_candidate' : 'similar'

/** Posting the same thing with small changes does not make it more true. */
const isTemplate = ({ config }: Hub, author: Pick<Principal, 'id'>, near: readonly NearMemory[]): boolean =>
  near.filter(({ agentId, similarity }) => agentId === author.id && similarity >= config.thresholds.duplicate)
    .length >= templateCopies

/** What several strangers repeat is a flood, or known already: nobody needs to be shown it to discover it. */
const isCrowd = ({ config }: Hub, author: Pick<Principal, 'id'>, around: readonly NearMemory[]): boolean =>
  around.filter(
    ({ agentId, quality, similarity }) =>
      quality < 0 && agentId !== author.id && similarity >= config.thresholds.crowd,
  ).length >= crowdSize
