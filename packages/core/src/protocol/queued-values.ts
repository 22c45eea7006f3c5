import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { checkKept, checkWritten } from '../front/check-values.ts'
import { createSealer, isEnvelope, type KeyRing } from '../front/encryption.ts'
import { encryptedYetIndexed, looksSealed, noKey, toJson } from '../front/entry-factory.ts'
import { parseKey, parseScope, writeOptionsSchema } from '../front/inputs.ts'
import type { JsonValue } from '../json.ts'
import type { WriteOptions } from '../memory-manager.ts'
import type { Address } from '../memory-store.ts'
import { parseInput } from '../parse-input.ts'
import { createRedactor, type RedactPolicy } from '../redaction/redactor.ts'
import type { ValueSchemas } from '../schemas.ts'
import type { QueuedWrite } from './write-queue.ts'

/** A requested write, unchecked. */
export interface AskedWrite {
  value: unknown
  options: WriteOptions | undefined
  queuedAt: number
}

/** Converts writes to what a queue keeps, and back. A queue keeps no secret and no plain text of an encrypted value. */
export interface QueuedValues {
  /**
   * What a queue keeps of a write. Repeats the checks of the memory, which does not see a write that waits for an
   * earlier one.
   *
   * @throws MemoryError as `write` does for wrong input
   */
  pack(address: Address, write: AskedWrite): Promise<QueuedWrite>
  /** Whether `pack` takes a write with these options: without a key, it takes none that asks for encryption. */
  canPack(options: WriteOptions | undefined): boolean
  /** The value to write. @throws MemoryError NOT_SUPPORTED when it is encrypted and there is no key */
  unpack(write: QueuedWrite): Promise<unknown>
}

export interface QueuedValuesOptions {
  schemas?: ValueSchemas | undefined
  redact: RedactPolicy
  encryptionKey?: Uint8Array | KeyRing | undefined
}

export function createQueuedValues(policy: QueuedValuesOptions): QueuedValues {
  const { schemas = {}, redact, encryptionKey } = policy
  const sealer = encryptionKey ? createSealer(encryptionKey) : undefined
  const redactor = createRedactor(redact)

  const checkOptions = (address: Address, given: WriteOptions): WriteOptions => {
    const options = parseInput(writeOptionsSchema, given, 'options') as WriteOptions
    // A value to be encrypted must not be queued in plain text, not even for a moment.
    if (options.encrypt && !sealer) throw noKey(address)
    if (options.encrypt && (options.embedding || options.text)) throw encryptedYetIndexed(address)
    return options
  }

  return {
    async pack({ namespace, scope, key }, { value, options: given, queuedAt }) {
      const address = { namespace, scope: parseScope(scope), key: parseKey(key) }
      redactor.checkKey(address.key, address.scope)
      const options = given === undefined ? undefined : checkOptions(address, given)
      const { text = null, type = null, tags = [] } = options ?? {}
      const checked = toJson(checkWritten(schemas, address.scope, address.key, value), address, value)
      if (isEnvelope(checked)) throw looksSealed(address)
      const clean = redactor.redact(address, { value: checked, text, type, tags: [...tags] })
      checkKept(schemas, address.scope, address.key, clean.value)
      return {
        ...address,
        value:
          options?.encrypt && sealer ? await sealer.seal(queuedAddress(address), clean.value) : clean.value,
        ...(options ? { options: { ...options, ...foundByOf(options, clean) } } : {}),
        queuedAt,
      }
    },

    canPack: (options) => !options?.encrypt || sealer !== undefined,

    async unpack(write) {
      const value = write.value as JsonValue
      if (!write.options?.encrypt || !isEnvelope(value)) return value
      if (!sealer)
        throw new MemoryError(
          'a queued write is encrypted: pass encryptionKey',
          MemoryErrorCode.NOT_SUPPORTED,
        )
      return sealer.open(queuedAddress(write), value)
    },
  }
}

/** The redacted text, type and tags, as far as they were given. */
const foundByOf = (
  given: WriteOptions,
  { text, type, tags }: { text: string | null; type: string | null; tags: string[] },
): WriteOptions => ({
  ...(text === null ? {} : { text }),
  ...(type === null ? {} : { type }),
  ...(given.tags === undefined ? {} : { tags }),
})

/** An address other than the entry's own, so that a value sealed for the queue opens nowhere else. */
const queuedAddress = ({ namespace, scope, key }: Address): Address => ({
  namespace: `queue:${namespace}`,
  scope,
  key,
})
