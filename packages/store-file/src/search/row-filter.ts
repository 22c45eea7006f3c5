import { type Filter, isEnvelope, type JsonValue, matchesFilter, memoryScopes } from '@recall/core'
import { isJsonObject } from '@recall/core/json'
import type { DocumentRow } from '../search-index/document-row.ts'
import { splitTags } from '../search-index/document-row.ts'

/** What a filter needs from the files; called only where the index has no answer. */
export interface FileAccess {
  value(row: DocumentRow): JsonValue | undefined
  /** When this version of the entry was last read, 0 for never, and how often the entry was. */
  use(row: Pick<DocumentRow, 'key' | 'created' | 'updated'>): { at: number; count: number }
}

export const isEverything = (filter: Filter | undefined): boolean =>
  !filter || (filter.kind === 'all' && filter.filters.length === 0)

/** Whether the entry behind a row passes a filter. */
export function passes(row: DocumentRow, filter: Filter | undefined, files: FileAccess): boolean {
  if (!filter || isEverything(filter)) return true
  // The index holds the members of small values; text values have none that a filter could name.
  const fields = row.fields === null ? null : (JSON.parse(row.fields) as JsonValue)
  const metadata = rowMetadata(row, fields, files)
  // For a conversation it holds every member but the body.
  const isEnough = row.fields !== null && (row.number === null || !mentions(filter, 'body'))
  if (isEnough) return matchesFilter(filter, { value: fields, metadata })
  const value = files.value(row)
  return value !== undefined && matchesFilter(filter, { value, metadata })
}

/** The metadata that filters fall back to. */
function rowMetadata(row: DocumentRow, fields: JsonValue, files: FileAccess) {
  const rate = isJsonObject(fields) ? fields.successRate : undefined
  return {
    key: row.key,
    scope: memoryScopes[row.scope] as string,
    namespace: row.namespace,
    type: row.type,
    tags: splitTags(row.tags),
    createdAt: row.created,
    updatedAt: row.updated,
    get accessedAt() {
      return Math.max(row.updated, files.use(row).at)
    },
    get accessCount() {
      return files.use(row).count
    },
    expiresAt: row.expires,
    get encrypted() {
      return isEnvelope(fields ?? files.value(row) ?? null)
    },
    embeddingModel: null,
    successRate: typeof rate === 'number' ? rate : null,
  } satisfies Record<string, JsonValue>
}

export type RowMetadata = ReturnType<typeof rowMetadata>

/** Whether a filter names a member of the value. */
function mentions(filter: Filter, member: string): boolean {
  if (filter.kind === 'all' || filter.kind === 'any')
    return filter.filters.some((part) => mentions(part, member))
  if (filter.kind === 'not') return mentions(filter.filter, member)
  return filter.path[0] === member
}
