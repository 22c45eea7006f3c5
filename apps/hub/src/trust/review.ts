import { agents, citations, memories, vouches } from '@recall/store-postgres'
import { desc, eq, getTableColumns, type SQL } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isNamed } from '../short-id.ts'
import { countedCitations } from './counted.ts'

/** Most agents, and most memories of one agent, in a list. */
const most = 100

const facts = {
  id: agents.id,
  name: agents.name,
  trustLevel: agents.trustLevel,
  createdAt: agents.createdAt,
  promotedAt: agents.promotedAt,
  disabledAt: agents.disabledAt,
  quarantines: agents.quarantines,
  notes: agents.notes,
}

type AgentFacts = Pick<typeof agents.$inferSelect, keyof typeof facts>

const shownAgent = ({ notes, ...agent }: AgentFacts) => ({
  id: agent.id,
  name: agent.name,
  trust_level: agent.trustLevel,
  created_at: agent.createdAt.toISOString(),
  promoted_at: agent.promotedAt?.toISOString() ?? null,
  disabled_at: agent.disabledAt?.toISOString() ?? null,
  quarantines: agent.quarantines,
  notes: notes?.split('\n') ?? [],
})

const agentsWhere = ({ database, call }: Hub, condition: SQL, offset = 0): Promise<AgentFacts[]> =>
  call(() =>
    database
      .select(facts)
      .from(agents)
      .where(condition)
      .orderBy(desc(agents.createdAt), agents.id)
      .limit(most)
      .offset(offset),
  )

/** Agents with this name, newest first. Several may share one, because names are only labels. */
export const agentsNamed = async (hub: Hub, name: string, offset: number) =>
  (await agentsWhere(hub, eq(agents.name, name), offset)).map(shownAgent)

const promotionColumns = {
  id: agents.id,
  name: agents.name,
  trustLevel: agents.trustLevel,
  at: vouches.createdAt,
}

/** The agents on the other side of the promotions that a condition selects, newest promotion first. */
async function otherSide(
  { database, call }: Hub,
  side: typeof vouches.agentId | typeof vouches.voucherId,
  condition: SQL,
) {
  const found = await call(() =>
    database
      .select(promotionColumns)
      .from(vouches)
      .innerJoin(agents, eq(agents.id, side))
      .where(condition)
      .orderBy(desc(vouches.createdAt), agents.id)
      .limit(most),
  )
  return found.map(({ id, name, trustLevel, at }) => ({
    id,
    name,
    trust_level: trustLevel,
    at: at.toISOString(),
  }))
}

/** What an administrator needs to judge an agent: its notes, who vouched for whom, and its newest memories. */
export async function reviewAgent(hub: Hub, id: string) {
  const [agent] = await agentsWhere(hub, eq(agents.id, id))
  if (!agent) throw notFound(`agent ${id}`)
  const written = await hub.call(() =>
    hub.database
      .select({
        id: memories.id,
        shortId: memories.shortId,
        quality: memories.quality,
        createdAt: memories.createdAt,
      })
      .from(memories)
      .where(eq(memories.agentId, id))
      .orderBy(desc(memories.createdAt))
      .limit(most),
  )
  return {
    ...shownAgent(agent),
    vouched_by: await otherSide(hub, vouches.voucherId, eq(vouches.agentId, id)),
    vouched_for: await otherSide(hub, vouches.agentId, eq(vouches.voucherId, id)),
    memories: written.map(({ id, shortId, quality, createdAt }) => ({
      id,
      short_id: shortId,
      quality,
      created_at: createdAt.toISOString(),
    })),
  }
}

const { embedding: _, nextEmbedding: __, ...kept } = getTableColumns(memories)

/** A memory as it is stored, even in quarantine, with its author and the decisions about the author. */
export async function reviewMemory(hub: Hub, id: string) {
  const { database, call } = hub
  const [row] = await call(() =>
    database
      .select({ memory: kept, author: facts })
      .from(memories)
      .innerJoin(agents, eq(agents.id, memories.agentId))
      .where(isNamed(id)),
  )
  if (!row) throw notFound(`memory ${id}`)
  const { memory, author } = row
  return {
    id: memory.id,
    short_id: memory.shortId,
    content: memory.content,
    tags: memory.tags,
    source_url: memory.sourceUrl,
    created_at: memory.createdAt.toISOString(),
    deleted_at: memory.deletedAt?.toISOString() ?? null,
    quality: memory.quality,
    duplicate_of: memory.duplicateOf,
    retrieval_count: memory.retrievalCount,
    citations: await call(() => database.$count(citations, countedCitations(memory.id))),
    author: shownAgent(author),
  }
}
