import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type { Address } from '../memory-store.ts'
import type { MemoryScope } from '../scope.ts'
import { tell } from '../tell.ts'
import { type RedactionCounts, redactJson, withoutKnownSecrets } from './redact.ts'

export type RedactPolicy = 'redact' | 'reject' | 'allow'

/** What was found in one write. Holds no part of a secret. */
export interface RedactionReport {
  scope: MemoryScope
  key: string
  /** Secrets by kind, for example `{ github: 1 }`. */
  counts: RedactionCounts
}

/** The parts of a write that could hold a secret. */
export interface RedactableContent {
  value: JsonValue
  text: string | null
  type: string | null
  tags: string[]
}

export interface Redactor {
  /** @throws MemoryError INVALID_INPUT for a key that holds a secret; the message does not repeat it */
  checkKey(key: string, scope: MemoryScope): void
  /**
   * Applies the policy to all content of a write that will be stored.
   *
   * @returns what may be kept
   * @throws MemoryError INVALID_INPUT with `reject` for any secret; the message does not repeat it
   */
  redact(address: Address, content: RedactableContent): RedactableContent
}

export function createRedactor(
  policy: RedactPolicy,
  onRedaction?: (report: RedactionReport) => void,
): Redactor {
  if (policy === 'allow') return { checkKey: () => {}, redact: (_address, content) => content }
  return {
    checkKey(key, scope) {
      if (withoutKnownSecrets(key) === key) return
      throw new MemoryError('the key holds a secret: choose another key', MemoryErrorCode.INVALID_INPUT, {
        scope,
      })
    },

    redact({ scope, key }, content) {
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
    },
  }
}
