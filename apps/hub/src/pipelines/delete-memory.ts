import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, citations, type Database, memories, memoryQuality } from '@recall/store-postgres'
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'
import { callReferring, changeMemories, rowsAtOnce } from '../trust/change-memories.ts'
import { type Decision, noteDecision } from '../trust/decisions.ts'
import { copiesOf, otherOriginal, repeating, repeatsOnly, shortenRepetitions } from '../trust/freed-copies.ts'
import { findMemory, type Reader } from './get-memory.ts'
import { wordsDigest } from './words-digest.ts'

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
  const copied = await call(() => database.$count(memories, copies))
  // A flood may have left more copies than one statement can change: they lose their mark before the deletion.
  if (copied > rowsAtOnce) await changeMemories(hub, sql`duplicate_of = ${otherOriginal(hub, gone)}`, copies)
  const status = await callReferring(hub, () =>
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
  if (copied > 0) await shortenRepetitions(hub)
  return status
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
    .select({ quality: memories.quality, duplicateOf: memories.duplicateOf })
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
  // Repetitions by its author stayed copies of it. If it only repeats one in quarantine, they do that as well.
  const left = wasHidden ? null : (locked?.duplicateOf ?? null)
  await transaction.update(memories).set({ duplicateOf: left }).where(eq(memories.duplicateOf, id))
  await transaction.delete(memories).where(eq(memories.id, id))
  return 'deleted'
}
