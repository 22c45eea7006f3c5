import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, citations, type Database, memories, memoryQuality, rowsOf } from '@recall/store-postgres'
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Principal } from '../access/principal.ts'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isNamed } from '../short-id.ts'
import { callReferring, changeMemories, refersToDeleted, rowsAtOnce } from '../trust/change-memories.ts'
import { countedCitations } from '../trust/counted.ts'
import { type Decision, noteDecision } from '../trust/decisions.ts'
import { copiesOf, otherOriginal, repeating, repeatsOnly } from '../trust/freed-copies.ts'
import { isHidden } from '../trust/originals.ts'
import { qualities } from '../trust/quality.ts'
import { wordsDigest } from './words-digest.ts'

type Reader = Pick<Principal, 'id'>

/**
 * A memory by its id or short id, if the reader may see it.
 *
 * @throws MemoryError NOT_FOUND, with the same message for absent and hidden memories, or with status 410 for a
 * tombstone
 */
async function findMemory({ database, call }: Hub, reader: Reader, id: string) {
  const [row] = await call(() =>
    database
      .select({
        id: memories.id,
        shortId: memories.shortId,
        agentId: memories.agentId,
        author: agents.name,
        content: memories.content,
        tags: memories.tags,
        sourceUrl: memories.sourceUrl,
        createdAt: memories.createdAt,
        isHidden: sql<boolean>`${isHidden('memories')}`,
        deletedAt: memories.deletedAt,
      })
      .from(memories)
      .innerJoin(agents, eq(agents.id, memories.agentId))
      .where(isNamed(id)),
  )
  if (!row || (row.isHidden && row.agentId !== reader.id)) throw notFound(`memory ${id}`)
  if (row.deletedAt) {
    throw new MemoryError(
      `memory ${row.shortId} was deleted by its author; only a tombstone remains`,
      MemoryErrorCode.NOT_FOUND,
      { details: { status: 410 } },
    )
  }
  return row
}

export async function getMemory(hub: Hub, reader: Reader, id: string) {
  const memory = await findMemory(hub, reader, id)
  const related = await hub.call(() => relatedTo(hub, reader, memory.id))
  return {
    id: memory.id,
    short_id: memory.shortId,
    content: memory.content,
    tags: memory.tags,
    source_url: memory.sourceUrl,
    author: { name: memory.author },
    created_at: memory.createdAt.toISOString(),
    related,
  }
}

interface Related {
  id: string
  short_id: string
  relation: string
  similarity: number | null
}

/**
 * Links in both directions, the nearest first, to good memories and the reader's own. One of low signal is not shown
 * beside another memory, however near it is: whoever writes close to what others read must not be read with it.
 */
const relatedTo = ({ database }: Hub, reader: Reader, id: string): Promise<Related[]> =>
  rowsOf(
    database,
    sql`
      with linked as (
        select related_id as other, relation, similarity from memory_links where memory_id = ${id}
        union select memory_id, relation, similarity from memory_links where related_id = ${id}
      )
      select m.id, m.short_id, l.relation, l.similarity
      from linked as l join memories m on m.id = l.other
      where m.deleted_at is null
        and (m.agent_id = ${reader.id}::uuid or (m.quality >= ${qualities.good} and not ${isHidden('m')}))
      order by l.similarity desc nulls last, m.id limit 20`,
  )

/** Records that an agent relied on a memory. Only trusted agents are counted, each once, and never the author. */
export async function citeMemory(hub: Hub, reader: Reader, id: string) {
  const { database, call, clock } = hub
  const memory = await findMemory(hub, reader, id)
  if (memory.agentId !== reader.id) {
    const row = { memoryId: memory.id, agentId: reader.id, createdAt: new Date(clock()) }
    await call(() => database.insert(citations).values(row).onConflictDoNothing()).catch((error) => {
      throw refersToDeleted(error) ? notFound(`memory ${id}`) : error
    })
  }
  const count = await call(() => database.$count(citations, countedCitations(memory.id)))
  return {
    success: true as const,
    short_id: memory.shortId,
    citation: `Recall #${memory.shortId}`,
    citations: count,
  }
}

/**
 * Deletes a memory. A tombstone without its text remains if others have cited it, or if it is in quarantine, which
 * counts against its author until it is lifted.
 *
 * @param decision of an administrator who deletes it for the author; it is noted together with the deletion
 */
export async function deleteMemory(
  hub: Hub,
  caller: Reader,
  id: string,
  decision?: Decision,
): Promise<'deleted' | 'tombstone'> {
  const { database, call, clock } = hub
  const memory = await findMemory(hub, caller, id)
  if (memory.agentId !== caller.id) {
    throw new MemoryError('only its author can delete a memory', MemoryErrorCode.FORBIDDEN)
  }
  const gone = sql`${memory.id}::uuid`
  const copies = copiesOf(gone)
  // A flood may have left more copies than one statement can change: they lose their mark before the deletion.
  if ((await call(() => database.$count(memories, copies))) > rowsAtOnce)
    await changeMemories(hub, sql`duplicate_of = ${otherOriginal(hub, gone)}`, copies)
  return callReferring(hub, () =>
    database.transaction(async (transaction) => {
      if (!decision) return removeMemory(hub, transaction, memory)
      // Like every decision, it locks the agent before the memory.
      const author = eq(agents.id, caller.id)
      await transaction.select({ id: agents.id }).from(agents).where(author).for('no key update')
      const status = await removeMemory(hub, transaction, memory)
      await noteDecision(transaction, caller.id, `${memory.shortId} ${status}`, decision, clock())
      return status
    }),
  )
}

/** Whether an agent is in quarantine. That covers its memories: none of them counts against it separately. */
const isDisabled = async (transaction: Database, id: string): Promise<boolean> =>
  (await transaction.$count(agents, and(eq(agents.id, id), isNotNull(agents.disabledAt)))) > 0

async function removeMemory(
  hub: Hub,
  transaction: Database,
  { id, agentId: authorId, content }: { id: string; agentId: string; content: string },
): Promise<'deleted' | 'tombstone'> {
  // Locks the memory, so that neither a citation nor a quarantine comes between the check and the deletion.
  const [locked] = await transaction
    .select({ quality: memories.quality })
    .from(memories)
    .where(eq(memories.id, id))
    .for('update')
  // A memory that repeats it is now a copy of another one, or of nothing.
  const gone = sql`${id}::uuid`
  await transaction
    .update(memories)
    .set({ duplicateOf: otherOriginal(hub, gone) })
    .where(copiesOf(gone))
  await transaction
    .update(memories)
    .set({ quality: memoryQuality.good })
    .where(sql`id = any(array(${repeating(hub, gone)})) and ${repeatsOnly(hub, gone)}`)
  const wasHidden = locked !== undefined && locked.quality <= memoryQuality.quarantined
  const isCited = (await transaction.$count(citations, eq(citations.memoryId, id))) > 0
  if (isCited || (wasHidden && !(await isDisabled(transaction, authorId)))) {
    await transaction
      .update(memories)
      .set({
        content: '',
        tags: [],
        sourceUrl: null,
        embedding: null,
        nextEmbedding: null,
        deletedAt: new Date(hub.clock()),
        ...(wasHidden ? { wordsDigest: wordsDigest(authorId, content) } : {}),
      })
      .where(and(eq(memories.id, id), isNull(memories.deletedAt)))
    return 'tombstone'
  }
  // Repetitions by its author stayed copies of it.
  if (wasHidden)
    await transaction.update(memories).set({ duplicateOf: null }).where(eq(memories.duplicateOf, id))
  await transaction.delete(memories).where(eq(memories.id, id))
  return 'deleted'
}
