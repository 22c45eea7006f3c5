import { citations } from '@recall/store-postgres'
import type { Hub } from '../hub.ts'
import { notFound } from '../problems.ts'
import { refersToDeleted } from '../trust/change-memories.ts'
import { countedCitations } from '../trust/counted.ts'
import { findMemory, type Reader } from './get-memory.ts'

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
