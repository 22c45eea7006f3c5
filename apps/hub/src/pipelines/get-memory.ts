import { MemoryError, MemoryErrorCode } from '@recall/core'
import { agents, memories, rowsOf } from '@recall/store-postgres'
import { eq, sql } from 'drizzle-orm'
import type { Principal } from '../access/principal.ts'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { isNamed } from '../short-id.ts'
import { isHidden } from '../trust/originals.ts'
import { qualities } from '../trust/quality.ts'

export type Reader = Pick<Principal, 'id'>

/**
 * A memory by its id or short id, if the reader may see it.
 *
 * @throws MemoryError NOT_FOUND, with the same message for absent and hidden memories, or with status 410 for a
 * tombstone
 */
export async function findMemory({ database, call }: Hub, reader: Reader, id: string) {
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
