import { mayBeCut } from '@recall/core'
import { type Database, memories, memoryLinks } from '@recall/store-postgres'
import { and, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { templateCopies } from '../trust/freed-copies.ts'
import { isHidden, isOriginalForOthers, isTrusted, mayBeOriginal } from '../trust/originals.ts'
import { type NearMemory, nearestMemories, visible } from './nearest.ts'
import { sharedWords } from './shared-words.ts'

/** Neighbours to check for duplicates and links. */
const neighbours = 10

const nearestVisible = nearestMemories({ shelf: 'visible', among: visible, candidates: neighbours + 1 })

/** From this many low-signal memories by other agents on that say the same, a memory counts as crowded. */
const othersInCrowd = 3

/** A link between a memory that is judged and one that has its vector already. */
export interface Link {
  memory: NearMemory
  relation: 'duplicate_candidate' | 'similar'
  /** Whether that one was written later, and only got its vector earlier. */
  isLater: boolean
}

/** A memory that is already stored, and waited for its vector or was hidden. */
export interface Stored {
  id: string
  createdAt: string
}

/**
 * Judges a memory by its vector: its neighbours, its links, those that its author may know of, and its first quality, if
 * it is no copy and its author is trusted when it is kept. Of two that say the same the later one is marked as a
 * copy, and is of low signal, unless the earlier one is deleted first.
 *
 * @param content what the vector was made of
 */
export async function judgeMemory(hub: Hub, agent: string, content: string, vector: number[], self?: Stored) {
  const { links, around } = await linksOf(hub, agent, content, vector, self)
  const near = links.map(({ memory }) => memory)
  const repeated = links.filter((link) => isCopy(hub, link) && !link.isLater).map(({ memory }) => memory.id)
  const [duplicateOf, shown] = await Promise.all([
    originalAmong(hub, agent, repeated),
    shownTo(hub, agent, links),
  ])
  const quality = isTemplate(hub, agent, near) ? -1 : 0
  const crowded = isCrowd(hub, agent, around)
  return { links, shown, values: { embedding: vector, quality, crowded, duplicateOf } }
}

/** The links of a memory, the most similar first, and what is visible around it. */
export async function linksOf(
  hub: Hub,
  agent: string,
  content: string,
  vector: number[],
  self?: Stored,
): Promise<{ links: Link[]; around: NearMemory[] }> {
  const { config, database, search, embedder } = hub
  const [seen] = await search(() => nearestVisible(database, vector, { agent, model: embedder.model }))
  const around = (seen?.memories ?? []).filter(({ id }) => id !== self?.id).slice(0, neighbours)
  const links = around
    .filter(({ similarity }) => similarity >= config.thresholds.related)
    .map((memory) => ({ ...memory, similarity: similarityOf(hub, content, memory) }))
    .sort((a, b) => b.similarity - a.similarity)
    .map((memory): Link => {
      const isLater = self !== undefined && Date.parse(memory.createdAt) > Date.parse(self.createdAt)
      return { memory, relation: relationOf(hub, memory), isLater }
    })
  return { links, around }
}

/** Those links that an author may know of: what repeats what is hidden is linked like any other, and hidden as well. */
async function shownTo(
  { database, call }: Hub,
  agent: string,
  links: readonly Link[],
): Promise<readonly Link[]> {
  const copies = links
    .map(({ memory }) => memory)
    .filter((memory) => memory.duplicateOf && memory.agentId !== agent)
  if (copies.length === 0) return links
  const ids = copies.map(({ id }) => id)
  const hidden = await call(() =>
    database
      .select({ id: memories.id })
      .from(memories)
      .where(and(inArray(memories.id, ids), isHidden('memories'))),
  )
  return links.filter(({ memory }) => !hidden.some(({ id }) => id === memory.id))
}

/**
 * What a memory that repeats several is marked as a copy of: the first that counts itself, or that its author said before
 * and that is hidden. A copy is the original of nothing: what only repeats that may be unlike all that counts.
 */
async function originalAmong(
  { database, call }: Hub,
  agent: string,
  repeated: readonly string[],
): Promise<string | null> {
  if (repeated.length === 0) return null
  const isOwn = eq(memories.agentId, agent)
  const canBeOriginal = and(
    isNull(memories.duplicateOf),
    or(isOwn, isOriginalForOthers('memories', isTrusted(sql`${agent}::uuid`))),
  )
  const [original] = await call(() =>
    database
      .select({ id: memories.id })
      .from(memories)
      .where(and(inArray(memories.id, [...repeated]), or(canBeOriginal, and(isOwn, isHidden('memories')))))
      .orderBy(isNotNull(memories.duplicateOf), memories.createdAt, memories.id)
      .limit(1),
  )
  return original?.id ?? null
}

/**
 * How similar a memory is to a text: by its vector. Where that says nearly the same and one of the two is longer than the
 * model reads at once, by all of their words: the vector of a whole report tells little of one paragraph.
 */
function similarityOf({ config, embedder }: Hub, content: string, memory: NearMemory): number {
  const { similarity } = memory
  const { duplicate, related } = config.thresholds
  if (similarity < duplicate || !(mayBeCut(embedder, content) || mayBeCut(embedder, memory.content)))
    return similarity
  return Math.max(related, Math.min(similarity, sharedWords(content, memory.content)))
}

/** Whether the later one of a link is a copy of the other. */
const isCopy = ({ config }: Pick<Hub, 'config'>, { memory }: Link): boolean =>
  memory.similarity >= config.thresholds.autoDuplicate

/**
 * Marks those as copies of a memory that were written later and took no notice of it. It may have been put in quarantine
 * before it had its vector: then only what its author says again is a copy of it.
 */
export async function markLaterCopies(
  hub: Hub,
  transaction: Database,
  memoryId: string,
  links: readonly Link[],
): Promise<void> {
  const copies = links.filter((link) => link.isLater && isCopy(hub, link)).map(({ memory }) => memory.id)
  if (copies.length === 0) return
  await transaction
    .update(memories)
    .set({ duplicateOf: memoryId, quality: -1 })
    .where(
      and(
        inArray(memories.id, copies),
        isNull(memories.duplicateOf),
        gt(memories.quality, -2),
        sql`exists (
          select from memories o
          where o.id = ${memoryId}::uuid and o.duplicate_of is null and ${mayBeOriginal('o', 'memories')}
            and (o.quality > -2 or o.agent_id = memories.agent_id)
        )`,
      ),
    )
}

/** Those links whose memories were not deleted meanwhile. They cannot be until the transaction ends. */
export async function lockLinked(transaction: Database, links: readonly Link[]): Promise<Link[]> {
  if (links.length === 0) return []
  const ids = links.map(({ memory }) => memory.id)
  const left = await transaction
    .select({ id: memories.id })
    .from(memories)
    .where(and(inArray(memories.id, ids), isNull(memories.deletedAt)))
    .for('key share')
  return links.filter(({ memory }) => left.some(({ id }) => id === memory.id))
}

/** Keeps links, each from the later memory to the earlier one, where they are not kept already. */
export async function keepLinks(
  transaction: Database,
  memoryId: string,
  links: readonly Link[],
): Promise<void> {
  if (links.length === 0) return
  const rows = links.map(({ memory, relation, isLater }) => ({
    memoryId: isLater ? memory.id : memoryId,
    relatedId: isLater ? memoryId : memory.id,
    relation,
    similarity: memory.similarity,
  }))
  // In one order for everybody: memories that are linked to each other may be so at the same moment, from both sides.
  const inOrder = rows.sort((a, b) => (a.memoryId + a.relatedId < b.memoryId + b.relatedId ? -1 : 1))
  await transaction.insert(memoryLinks).values(inOrder).onConflictDoNothing()
}

const relationOf = ({ config }: Hub, { similarity }: NearMemory): 'duplicate_candidate' | 'similar' =>
  similarity >= config.thresholds.duplicate ? 'duplicate_candidate' : 'similar'

/** Whether the agent has posted nearly the same many times: that does not make it more true. */
const isTemplate = ({ config }: Hub, agent: string, near: readonly NearMemory[]): boolean =>
  near.filter(({ agentId, similarity }) => agentId === agent && similarity >= config.thresholds.duplicate)
    .length >= templateCopies

/**
 * Whether several other agents said nearly the same: it is a flood or well known, and needs no place as a discovery.
 */
const isCrowd = ({ config }: Hub, agent: string, around: readonly NearMemory[]): boolean =>
  around.filter(
    ({ agentId, quality, similarity }) =>
      quality < 0 && agentId !== agent && similarity >= config.thresholds.crowd,
  ).length >= othersInCrowd
