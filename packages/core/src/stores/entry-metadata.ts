import { isJsonObject } from '../json.ts'
import type { MemoryMetadata } from '../memory-manager.ts'
import type { Entry } from '../memory-store.ts'

/** What a caller sees of an entry besides its value; also what filters fall back to. */
export function entryMetadata(entry: Entry): MemoryMetadata {
  return {
    key: entry.key,
    scope: entry.scope,
    namespace: entry.namespace,
    type: entry.type,
    tags: entry.tags,
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    accessedAt: entry.accessedAt,
    accessCount: entry.accessCount,
    expiresAt: entry.expiresAt,
    encrypted: entry.encrypted,
    embeddingModel: entry.embedding?.model ?? null,
    successRate: successRateOf(entry),
  }
}

function successRateOf({ value }: Entry): number | null {
  const rate = isJsonObject(value) && Object.hasOwn(value, 'successRate') ? value.successRate : null
  return typeof rate === 'number' ? rate : null
}
