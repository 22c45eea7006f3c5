import { type Entry, MemoryError, MemoryErrorCode, type MemoryScope } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../engines/database.ts'
import { filterFields } from '../filter/filter-fields.ts'
import { entries, units } from '../schema/entries.ts'
import { entryId, placeId } from './address.ts'
import type { Shelf } from './shelf.ts'
import { storableText } from './storable-text.ts'
import { storableVector } from './storable-vector.ts'
import { type UnitRow, unitRowsOf } from './unit-rows.ts'

type NewRow = typeof entries.$inferInsert

/** The columns that an entry is read from. */
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
  'embeddingModel',
  'unitCount',
] as const

export type EntryRow = Pick<typeof entries.$inferSelect, (typeof entryColumns)[number]> & {
  /** A JSON list of vectors: one for each unit, or a single one for the entry. */
  vectors: string | null
}

const selected = Object.fromEntries(entryColumns.map((name) => [name, entries[name]])) as {
  [Name in (typeof entryColumns)[number]]: (typeof entries)[Name]
}

/**
 * Nested, because Drizzle writes the columns of a selection without their tables, so that any place would equal itself.
 */
const isOfEntry = sql`
  ${units.place} = ${entries.place} and ${units.entry} = ${entries.id} and ${units.unit} < ${entries.unitCount}`

const vectorsAs = (made: SQL): SQL<string | null> =>
  sql<string | null>`(select '[' || ${made} || ']' from ${units} where ${isOfEntry})`

/** The selection for an entry with the vectors of all of its units. */
export const wholeEntry = {
  ...selected,
  vectors: vectorsAs(sql`string_agg(${units.embedding}::text, ',' order by ${units.unit})`),
}

/**
 * The selection for an entry that a search or a list finds, with only the normalized mean of its vectors: the vectors
 * of a long conversation are megabytes.
 */
export const foundEntry = {
  ...selected,
  vectors: vectorsAs(sql`l2_normalize(avg(${units.embedding}))::text`),
}

/** The bytes of an entry as the migrations count them for quotas: no text is read for it. */
const heldBytes = sql`held_bytes(
  ${entries.key}, ${entries.value}, ${entries.text}, ${entries.type}, ${entries.tags}, ${entries.unitCount},
  ${entries.dimensions}
)`

/**
 * Call it before reading several entries, which are in memory together. A single entry is never too large: it was
 * written in one piece.
 *
 * @param chosen condition on the entries
 * @param times SQL for how often the answer holds each of them. Default: once
 * @throws MemoryError QUOTA_EXCEEDED
 */
export async function refuseTooLarge(
  database: Database,
  chosen: SQL | undefined,
  shelf: Shelf,
  times: SQL = sql`1`,
): Promise<void> {
  const { answerBytes } = shelf
  if (answerBytes === Number.POSITIVE_INFINITY) return
  const [sum] = await database
    .select({
      count: sql<number>`coalesce(sum(${times}), 0)::float8`,
      bytes: sql<number>`coalesce(sum(${heldBytes} * ${times}), 0)::float8`,
    })
    .from(entries)
    .where(chosen)
  if (!sum || sum.count <= 1 || sum.bytes <= answerBytes) return
  throw new MemoryError(
    `these ${sum.count} entries hold ${sum.bytes} bytes, more than the ${answerBytes} of one answer: ask for fewer at a time`,
    MemoryErrorCode.QUOTA_EXCEEDED,
    { details: { entries: sum.count, bytes: sum.bytes, most: answerBytes } },
  )
}

/** @throws MemoryError INVALID_INPUT for a vector or a text that Postgres cannot index */
export async function rowsFor(entry: Entry, shelf: Shelf): Promise<{ row: NewRow; units: UnitRow[] }> {
  const units = await unitRowsOf(entry)
  const { namespace, scope, key, tags, createdAt, updatedAt, accessedAt, accessCount } = entry
  const row = {
    place: placeId(entry, shelf),
    id: entryId(entry),
    tenant: shelf.tenant,
    namespace,
    scope,
    key,
    value: JSON.stringify(entry.value),
    fields: filterFields(entry),
    text: storableText(entry.text),
    wordCount: units.reduce((sum, { wordCount }) => sum + wordCount, 0),
    unitCount: units.length,
    // Kept as JSON, because `type` may be any string, and Postgres text cannot hold NUL or lone surrogates.
    type: entry.type === null ? null : JSON.stringify(entry.type),
    tags,
    createdAt,
    updatedAt,
    accessedAt,
    accessCount,
    ttl: entry.ttl,
    expiresAt: entry.expiresAt,
    encrypted: entry.encrypted,
    embeddingModel: entry.embedding?.model ?? null,
    dimensions: entry.embedding?.vector.length ?? null,
  }
  return { row, units }
}

/** Converts a row, which may have more columns, to an entry. */
export function entryOf(row: EntryRow): Entry {
  const { namespace, key, text, tags, createdAt, updatedAt, accessedAt, accessCount } = row
  const { ttl, expiresAt, encrypted, type, vectors, embeddingModel } = row
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
    embedding: vectors && embeddingModel ? embeddingOf(embeddingModel, JSON.parse(vectors)) : null,
  }
}

function embeddingOf(model: string, vectors: number[][]): NonNullable<Entry['embedding']> {
  const [first = []] = vectors
  if (vectors.length === 1) return { model, vector: first }
  const sum = first.map((_, i) => vectors.reduce((total, vector) => total + (vector[i] ?? 0), 0))
  return { model, vector: storableVector(sum), units: vectors }
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
