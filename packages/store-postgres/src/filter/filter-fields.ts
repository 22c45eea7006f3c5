import type { Entry, JsonObject, JsonValue } from '@recall/core'
import { isJsonObject } from '@recall/core/json'
import { entryMetadata } from '@recall/core/stores'
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
  const fields: JsonObject = {}
  for (const [name, member] of Object.entries(entryMetadata(entry)))
    if (!changingMetadata.includes(name as ChangingMetadata)) setComparable(fields, name, member as JsonValue)
  const { value } = entry
  if (Array.isArray(value)) for (const [i, item] of value.entries()) setComparable(fields, String(i), item)
  else if (isJsonObject(value)) setMembers(fields, value)
  return fields
}

/** Applies `comparableText` to every string and every member name of a value. */
export function comparableJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return comparableText(value)
  if (Array.isArray(value)) return value.map(comparableJson)
  if (value === null || typeof value !== 'object') return value
  const copy: JsonObject = {}
  setMembers(copy, value)
  return copy
}

/** In a loop, because a list of pairs would be made for each of a hundred thousand members. */
function setMembers(copy: JsonObject, value: JsonObject): void {
  for (const name of Object.keys(value)) setComparable(copy, name, value[name] as JsonValue)
}

function setComparable(copy: JsonObject, name: string, member: JsonValue): void {
  const value = comparableJson(member)
  // Assigning `__proto__` would set the prototype; defining it keeps it an ordinary member.
  if (name === '__proto__')
    Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true })
  else copy[comparableText(name)] = value
}
