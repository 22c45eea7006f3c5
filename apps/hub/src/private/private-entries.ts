import type { z } from '@hono/zod-openapi'
import {
  type Entry,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  redactJson,
  redactText,
  searchableText,
  shortTermTtl,
  toJsonValue,
} from '@recall/core'
import type { Hub } from '../hub.ts'
import type { entrySchema } from './wire.ts'

type WireEntry = z.infer<typeof entrySchema>

/**
 * An entry as a store takes it. What the caller left out gets the defaults of every memory; secrets are replaced
 * here too, since not every caller has done so.
 *
 * @throws MemoryError INVALID_INPUT for a value that JSON cannot hold
 */
export function entryFromWire(
  { config }: Pick<Hub, 'config'>,
  place: { namespace: string; scope: MemoryScope },
  wire: WireEntry,
  now: number,
): Entry {
  const clean = config.privateSecrets === 'redact' && !wire.encrypted ? redacted(wire) : wire
  const value = jsonOf(clean.value)
  const ttl = wire.ttl === undefined && place.scope === 'short-term' ? shortTermTtl : (wire.ttl ?? null)
  const { createdAt = now, updatedAt = now, accessedAt = now } = wire
  return {
    ...place,
    key: wire.key,
    value,
    text: clean.text ?? (wire.encrypted ? '' : searchableText(value)),
    type: clean.type ?? null,
    tags: [...new Set(clean.tags)],
    createdAt,
    updatedAt,
    accessedAt,
    accessCount: wire.accessCount,
    ttl,
    expiresAt: wire.expiresAt === undefined ? (ttl === null ? null : now + ttl) : wire.expiresAt,
    encrypted: wire.encrypted,
    embedding: wire.embedding ?? null,
  }
}

function redacted(wire: WireEntry): WireEntry {
  return {
    ...wire,
    value: redactJson(jsonOf(wire.value)).value,
    tags: wire.tags.map((tag) => redactText(tag).text),
    ...(wire.text === undefined ? {} : { text: redactText(wire.text).text }),
    ...(wire.type ? { type: redactText(wire.type).text } : {}),
  }
}

function jsonOf(value: unknown) {
  try {
    return toJsonValue(value)
  } catch (error) {
    throw new MemoryError((error as Error).message, MemoryErrorCode.INVALID_INPUT)
  }
}
