import { type Entry, MemoryError, MemoryErrorCode, type MemoryScope } from '@recall/core'
import { entryId, placeId } from './address.ts'
import { storableText } from './comparable-text.ts'
import type { Shelf } from './conditions.ts'
import { filterFields } from './filter-fields.ts'
import { entries } from './schema/entries.ts'
import { countedWords } from './words.ts'

type NewRow = typeof entries.$inferInsert
export type EntryRow = Pick<typeof entries.$inferSelect, (typeof entryColumns)[number]>

/** What an entry is read from. */
const entryColumns = [
  'namespace',
  'scope',
  'key',
  'value',
  'text',
  'type',
  'tags',
  'createdAt',
  'updatedAt',
  'accessedAt',
  'accessCount',
  'ttl',
  'expiresAt',
  'encrypted',
  'embedding',
  'embeddingModel',
] as const

/** These columns, for a query. */
export const entrySelection = Object.fromEntries(entryColumns.map((name) => [name, entries[name]])) as {
  [Name in (typeof entryColumns)[number]]: (typeof entries)[Name]
}

/** @throws MemoryError INVALID_INPUT for a vector or a text that Postgres cannot index */
export function rowOf(entry: Entry, shelf: Shelf): NewRow {
  const { namespace, scope, key, tags, createdAt, updatedAt, accessedAt, accessCount } = entry
  return {
    place: placeId(entry, shelf),
    id: entryId(entry),
    tenant: shelf.tenant,
    namespace,
    scope,
    key,
    value: JSON.stringify(entry.value),
    fields: filterFields(entry),
    text: storableText(entry.text),
    ...countedWords(entry.text),
    // The value's own member `type` may be any string.
    type: entry.type === null ? null : JSON.stringify(entry.type),
    tags,
    createdAt,
    updatedAt,
    accessedAt,
    accessCount,
    ttl: entry.ttl,
    expiresAt: entry.expiresAt,
    encrypted: entry.encrypted,
    embedding: entry.embedding && storableVector(entry.embedding.vector),
    embeddingModel: entry.embedding?.model ?? null,
    dimensions: entry.embedding?.vector.length ?? null,
    nextEmbedding: null,
    nextEmbeddingModel: null,
  }
}

/** Of a row that may hold more than an entry does. */
export function entryOf(row: EntryRow): Entry {
  const { namespace, key, text, tags, createdAt, updatedAt, accessedAt, accessCount } = row
  const { ttl, expiresAt, encrypted, type, embedding, embeddingModel } = row
  return {
    namespace,
    scope: row.scope as MemoryScope,
    key,
    value: parse(row.value, row),
    text,
    type: type === null ? null : (parse(type, row) as string),
    tags,
    createdAt,
    updatedAt,
    accessedAt,
    accessCount,
    ttl,
    expiresAt,
    encrypted,
    embedding: embedding && embeddingModel ? { model: embeddingModel, vector: embedding } : null,
  }
}

function parse(json: string, { scope, key }: Pick<EntryRow, 'scope' | 'key'>): Entry['value'] {
  try {
    return JSON.parse(json)
  } catch {
    throw new MemoryError(
      `what is stored under '${key}' is not JSON: restore it from a backup, or delete it`,
      MemoryErrorCode.CORRUPTION,
      { scope: scope as MemoryScope, key },
    )
  }
}

/** Most dimensions of pgvector's `vector`. */
const mostDimensions = 16_000

/**
 * The vector at length 1: only directions are compared, and numbers of any size then fit into those of Postgres.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function storableVector(vector: readonly number[]): number[] {
  if (vector.length > mostDimensions) {
    throw new MemoryError(
      `a vector has ${vector.length} dimensions: Postgres keeps up to ${mostDimensions}`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  // Divided by the largest first: squares of large numbers would be infinite.
  const largest = Math.max(...vector.map(Math.abs))
  if (largest === 0) return [...vector]
  const scaled = vector.map((x) => x / largest)
  const length = Math.hypot(...scaled)
  return scaled.map((x) => Math.fround(x / length))
}
