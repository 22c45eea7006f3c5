import { type Entry, entryMetadata, isJsonObject, type JsonValue } from '@recall/core'
import { comparableText } from './comparable-text.ts'

/** Metadata that change without a write of the entry; filters read them from their columns. */
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
 * What filters look at, as one object: a path is looked up in the value first and then in the metadata, so the
 * value's members lie over the metadata. Lists have their positions for members, other values have none.
 */
export function filterFields(entry: Entry): JsonValue {
  const metadata: [string, unknown][] = Object.entries(entryMetadata(entry)).filter(
    ([name]) => !changingMetadata.includes(name as ChangingMetadata),
  )
  const { value } = entry
  const members = Array.isArray(value) || isJsonObject(value) ? Object.entries(value) : []
  return comparableJson(Object.fromEntries([...metadata, ...members]) as JsonValue)
}

/** The value with every string, and every name of a member, as comparable text. */
export function comparableJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return comparableText(value)
  if (Array.isArray(value)) return value.map(comparableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [comparableText(name), comparableJson(member)]),
  )
}
