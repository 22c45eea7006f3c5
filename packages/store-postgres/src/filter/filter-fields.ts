import { type Entry, entryMetadata, isJsonObject, type JsonValue } from '@recall/core'
import { comparableText } from './comparable-text.ts'

/** Metadata that may change without a write of the entry, or that a write may keep: filters read their columns. */
export const changingMetadata = [
  'createdAt',
  'updatedAt',
  'accessedAt',
  'accessCount',
  'expiresAt',
  'embeddingModel',
] as const

export type ChangingMetadata = (typeof changingMetadata)[number]

/**
 * The object that filters look into. A path is looked up in the value first and then in the metadata, so members of
 * the value hide metadata of the same name. Elements of a list have their positions as names; other values have no
 * members.
 */
export function filterFields(entry: Entry): JsonValue {
  const metadata: [string, unknown][] = Object.entries(entryMetadata(entry)).filter(
    ([name]) => !changingMetadata.includes(name as ChangingMetadata),
  )
  const { value } = entry
  const members = Array.isArray(value) || isJsonObject(value) ? Object.entries(value) : []
  return comparableJson(Object.fromEntries([...metadata, ...members]) as JsonValue)
}

/** Applies `comparableText` to every string and every member name of a value. */
export function comparableJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return comparableText(value)
  if (Array.isArray(value)) return value.map(comparableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [comparableText(name), comparableJson(member)]),
  )
}
