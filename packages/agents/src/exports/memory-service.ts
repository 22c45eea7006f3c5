import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'
import { type MemoryExport, text, textList } from './imported-memory.ts'

const source = 'mcp-memory-service'

interface Document {
  memories: unknown[]
}

export const isMemoryServiceDocument = (value: unknown): value is Document =>
  isRecord(value) && isRecord(value.export_metadata) && Array.isArray(value.memories)

/** Reads an export of mcp-memory-service; a memory's hash is its id. */
export function readMemoryService({ memories }: Document): MemoryExport {
  const records = memories.filter(isRecord).flatMap((memory) => {
    const content = text(memory.content)
    const id = text(memory.content_hash)
    const at = toInstant(memory.created_at)
    const type = text(memory.memory_type)
    if (!content || !id) return []
    return [
      {
        source,
        id,
        text: content,
        tags: textList(memory.tags),
        ...(type ? { type } : {}),
        ...(at ? { at } : {}),
      },
    ]
  })
  const left = memories.length - records.length
  return { format: source, records, skipped: left > 0 ? { 'memory without text or hash': left } : {} }
}
