import type { z } from '@hono/zod-openapi'
import {
  createRedactor,
  type Entry,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  shortTermTtl,
} from '@recall/core'
import { searchableText, toJsonValue } from '@recall/core/json'
import { statedType } from '@recall/core/stores'
import type { Hub } from '../hub.ts'
import type { entrySchema } from './wire.ts'

type WireEntry = z.infer<typeof entrySchema>

/**
 * Converts an entry of a request into one for the store. Missing members get the defaults of every memory. Secrets are
 * redacted here too, because not every client does so.
 *
 * @throws MemoryError INVALID_INPUT for a value that JSON cannot hold, and for a key that holds a secret
 */
export function entryFromWire(
  { config }: Pick<Hub, 'config'>,
  place: { namespace: string; scope: MemoryScope },
  wire: WireEntry,
  now: number,
): Entry {
  const redactor = createRedactor(wire.encrypted ? 'allow' : config.privateSecrets)
  redactor.checkKey(wire.key, place.scope)
  const {
    value,
    text,
    type: given,
    tags,
  } = redactor.redact(
    { ...place, key: wire.key },
    {
      value: jsonOf(wire.value),
      text: wire.text ?? null,
      type: wire.type ?? null,
      tags: [...wire.tags],
    },
  )
  const type = wire.type === undefined && !wire.encrypted ? statedType(value) : given
  const wanted = wire.ttl === undefined && place.scope === 'short-term' ? shortTermTtl : wire.ttl
  const ttl = wanted == null ? null : Math.ceil(wanted)
  const { createdAt = now, updatedAt = now, accessedAt = now } = wire
  return {
    ...place,
    key: wire.key,
    value,
    text: text ?? (wire.encrypted ? '' : searchableText(value)),
    type,
    tags: [...new Set(tags)],
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

function jsonOf(value: unknown): JsonValue {
  try {
    return toJsonValue(value)
  } catch (error) {
    throw new MemoryError((error as Error).message, MemoryErrorCode.INVALID_INPUT)
  }
}
