import {
  conversationType,
  type JsonValue,
  type MemoryManager,
  type MemoryRecord,
  type MemoryScope,
  memoryScopes,
  type ReadOptions,
  redactJson,
} from '@recall/core'
import * as z from 'zod'
import { withoutSecrets } from './answer.ts'

export const scope = z.enum(memoryScopes)
export const key = z.string().min(1).max(1024)

export const hasArchive = (memory: MemoryManager, where: MemoryScope): boolean =>
  memory.capabilities[where].archive === true

/** The memory under a key, archived or not. */
export const readAny = (memory: MemoryManager, where: MemoryScope, name: string, options: ReadOptions = {}) =>
  memory.read(where, name, { ...options, includeMetadata: true, includeArchived: hasArchive(memory, where) })

/**
 * A whole memory, without secrets that a person may have typed into its file: a text unchanged, the body of a session's
 * archive, and any other value as JSON.
 */
export function wholeText({ value, metadata }: MemoryRecord<unknown>): string {
  if (typeof value === 'string') return withoutSecrets(value)
  const body = (value as { body?: unknown } | null)?.body
  return metadata.type === conversationType && typeof body === 'string'
    ? withoutSecrets(body)
    : JSON.stringify(redactJson(value as JsonValue).value, null, 2)
}
