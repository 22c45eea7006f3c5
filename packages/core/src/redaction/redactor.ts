import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type { Address } from '../memory-store.ts'
import type { MemoryScope } from '../scope.ts'
import { tell } from '../tell.ts'
import { type RedactionCounts, redactJson, withoutSecrets } from './redact.ts'

export type RedactPolicy = 'redact' | 'reject' | 'allow'

/** What was found in one write. Holds no part of a secret. */
export interface RedactionReport {
  scope: MemoryScope
  key: string
  /** Secrets by kind, for example `{ github: 1 }`. */
  counts: RedactionCounts
}

/** What a write brings that could hold a secret. */
export interface RedactableContent {
  value: JsonValue
  text: string | null
  type: string | null
  tags: string[]
}

/**
 * Applies the policy to all content of a write that will be stored.
 *
 * @returns a function from the content of a write to the content that may be kept. It throws MemoryError INVALID_INPUT
 * for a key that holds a secret, and with `reject` for any secret; no message repeats a secret
 */
export function createRedactor(
  policy: RedactPolicy,
  onRedaction?: (report: RedactionReport) => void,
): (address: Address, content: RedactableContent) => RedactableContent {
  if (policy === 'allow') return (_address, content) => content
  return ({ scope, key }, content) => {
    if (withoutSecrets(key) !== key) {
      throw new MemoryError('the key holds a secret: choose another key', MemoryErrorCode.INVALID_INPUT, {
        scope,
      })
    }
    const clean = redactJson([content.value, content.text, content.type, content.tags])
    if (Object.keys(clean.counts).length === 0) return content
    if (policy === 'reject') {
      const kinds = Object.keys(clean.counts).join(', ')
      throw new MemoryError(
        `the value holds secrets (${kinds}), which this memory does not keep`,
        MemoryErrorCode.INVALID_INPUT,
        { scope, key, details: { redactions: clean.counts } },
      )
    }
    if (onRedaction) void tell(onRedaction, { scope, key, counts: clean.counts })
    const [value, text, type, tags] = clean.value as [JsonValue, string | null, string | null, string[]]
    return { value, text, type, tags }
  }
}
