import { mayBeCut } from '@recall/core'
import { type Database, memories, memoryLinks, memoryQuality } from '@recall/store-postgres'
import { and, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { templateCopies } from '../trust/freed-copies.ts'
import { isHidden, isOriginalForOthers, isTrusted, mayBeOriginal } from '../trust/originals.ts'
import { qualities } from '../trust/quality.ts'
import {
  type Among,
  allLowOfOthers,
  goodOfAll,
  lowOfOthers,
  type NearMemory,
  nearestMemories,
  ownLow,
} from './nearest.ts'
import { sharedWords } from './shared-words.ts'

/** Neighbours of each kind to check for duplicates and links. */
const neighbours = 10

const noCopies = (among: Among): Among => ({
  ...among,
  where: sql`${among.where} and m.duplicate_of is null`,
})

/**
 * The kinds are looked for separately: however many memories of one kind a flood puts nearest, it hides none of
 * another. Nor do copies of low signal hide their original.
 */
const nearestOfEachKind = nearestMemories(
  // One more of the author's: a memory that is already stored finds itself.
  { shelf: 'good', among: [goodOfAll], candidates: neighbours + 1 },
  { among: [noCopies(ownLow)], candidates: neighbours + 1 },
  { among: [ownLow], candidates: neighbours + 1 },
  { shelf: 'low', among: [noCopies(lowOfOthers)], candidates: neighbours },
  { shelf: 'low or crowded', among: allLowOfOthers, candidates: neighbours },
)

/** Most links that an author is told of. */
const mostShown = 10

/** A memory counts as crowded from this many low-signal memories by other agents that say the same. */
const othersInCrowd = 3

/** A link between a memory that is being judged and one that already has its vector. */
export interface Link {
  memory: NearMemory
  relation: 'duplicate_candidate' | 'similar'
  /** Whether the other one was written later, and only got its vector earlier. */
  isLater: boolean
}

/** A memory that is already stored, and was waiting for its vector or hidden. */
export interface Stored {
  id: string
  createdAt: string
}

/**
 * Judges a memory by its vector: its neighbours, its links, the links that its author may know of, and its first
 * quality, which applies if it is not a copy and its author is trusted when it is kept. Of two memories that say the
 * same, the later one is marked as a copy and is of low signal, unless the earlier one is deleted first.
 *
 * @param content the text that the vector was made from
 */
export async function judgeMemory(hub: Hub, agent: string, content: string, vector: number[], self?: Stored) {
  const { links, around } = await linksOf(hub, agent, content, vector, self)
  const near = links.map(({ memory }) => memory)
  const repeated = links.filter((link) => isCopy(hub, link) && !link.isLater).map(({ memory }) => memory.id)
  const [duplicateOf, shown] = await Promise.all([
    originalAmong(hub, agent, repeated),
    shownTo(hub, agent, links),
  ])
  const quality = isTemplate(hub, agent, near) ? memoryQuality.lowSignal : memoryQuality.good
  const crowded = isCrowd(hub, agent, around)
  return { links, shown, values: { embedding: vector, quality, crowded, duplicateOf } }
}

/** The links of a memory, the most similar first, and the memories around it that its author may see. */
export async function linksOf(
  hub: Hub,
  agent: string,
  content: string,
  vector: number[],
  self?: Stored,
): Promise<{ links: Link[]; around: NearMemory[] }> {
  const { config, database, search, embedder } = hub
  const found = await search(() => nearestOfEachKind(database, vector, { agent, model: embedder.model }))
  const nearest = found.flatMap((kind) =>
    kind.memories.filter(({ id }) => id !== self?.id).slice(0, neighbours),
  )
  const around = [...new Map(nearest.map((memory) => [memory.id, memory])).values()]
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

/**
 * The links that an author is told of: those to good memories and its own come before all others, however near these
 * are. A memory that repeats a hidden one is linked like any other, but hidden as well.
 */
async function shownTo(hub: Hub, agent: string, links: readonly Link[]): Promise<Link[]> {
  const isFoundAsGood = ({ memory }: Link): boolean =>
    memory.quality === memoryQuality.good || memory.agentId === agent
  const known = await withoutHidden(hub, agent, links)
  const first = [...known.filter(isFoundAsGood), ...known.filter((link) => !isFoundAsGood(link))]
  const shown = new Set(first.slice(0, mostShown))
  return known.filter((link) => shown.has(link))
}

async function withoutHidden(
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
 * The original of a memory that repeats several: the first one that counts itself, or one in quarantine that its author
 * said before, also if it only repeats another repetition of that: otherwise the author could lead away from it step by
 * step. Apart from that, a copy is never an original: a memory that only repeats the copy may be unlike every memory
 * that counts.
 */
async function originalAmong(
  { database, call }: Hub,
  agent: string,
  repeated: readonly string[],
): Promise<string | null> {
  if (repeated.length === 0) return null
  const isOwn = eq(memories.agentId, agent)
  const inQuarantine = sql`quality <= ${qualities.quarantined}`
  const canBeOriginal = and(
    isNull(memories.duplicateOf),
    or(isOwn, isOriginalForOthers('memories', isTrusted(sql`${agent}::uuid`))),
  )
  const [original] = await call(() =>
    database
      .select({ id: sql<string>`case when ${inQuarantine} then id else coalesce(duplicate_of, id) end` })
      .from(memories)
      .where(and(inArray(memories.id, [...repeated]), or(canBeOriginal, and(isOwn, isHidden('memories')))))
      .orderBy(isNotNull(memories.duplicateOf), memories.createdAt, memories.id)
      .limit(1),
  )
  return original?.id ?? null
}

/**
 * How similar a memory is to a text, by its vector. If that says nearly the same and one of the two is longer than the
 * model reads at once, by all of their words: the vector of a whole report tells little about one paragraph.
 */
function similarityOf({ config, embedder }: Hub, content: string, memory: NearMemory): number {
  const { similarity } = memory
  const { duplicate, related } = config.thresholds
  if (similarity < duplicate || !(mayBeCut(embedder, content) || mayBeCut(embedder, memory.content)))
    return similarity
  return Math.max(related, Math.min(similarity, sharedWords(content, memory.content)))
}

/** Whether the later memory of a link is a copy of the earlier one. */
const isCopy = ({ config }: Pick<Hub, 'config'>, { memory }: Link): boolean =>
  memory.similarity >= config.thresholds.autoDuplicate

/**
 * Marks memories as copies of this one that were written later, without being compared with it. It may have been put in
 * quarantine before it had its vector: then only what its author says again is a copy of it.
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
    .set({ duplicateOf: memoryId, quality: memoryQuality.lowSignal })
    .where(
      and(
        inArray(memories.id, copies),
        isNull(memories.duplicateOf),
        gt(memories.quality, memoryQuality.quarantined),
        sql`exists (
          select from memories o
          where o.id = ${memoryId}::uuid and o.duplicate_of is null and ${mayBeOriginal('o', 'memories')}
            and (o.quality > ${qualities.quarantined} or o.agent_id = memories.agent_id)
        )`,
      ),
    )
}

/** The links whose memories were not deleted meanwhile. The memories cannot be deleted until the transaction ends. */
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

/** Keeps new links, each from the later memory to the earlier one. */
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
  // In the same order for every writer: two linked memories may be linked at the same moment from both sides.
  const inOrder = rows.sort((a, b) => (a.memoryId + a.relatedId < b.memoryId + b.relatedId ? -1 : 1))
  await transaction.insert(memoryLinks).values(inOrder).onConflictDoNothing()
}

const relationOf = ({ config }: Hub, { similarity }: NearMemory): 'duplicate_candidate' | 'similar' =>
  similarity >= config.thresholds.duplicate ? 'duplicate_candidate' : 'similar'

/** Whether the agent has posted nearly the same many times: that does not make it truer. */
const isTemplate = ({ config }: Hub, agent: string, near: readonly NearMemory[]): boolean =>
  near.filter(({ agentId, similarity }) => agentId === agent && similarity >= config.thresholds.duplicate)
    .length >= templateCopies

/**
 * Whether several other agents said nearly the same: it is then a flood or well known, and does not need a place as a
 * discovery.
 */
const isCrowd = ({ config }: Hub, agent: string, around: readonly NearMemory[]): boolean =>
  around.filter(
    ({ agentId, quality, similarity }) =>
      quality < memoryQuality.good && agentId !== agent && similarity >= config.thresholds.crowd,
  ).length >= othersInCrowd
