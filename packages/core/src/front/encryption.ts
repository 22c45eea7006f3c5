import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Address } from '../memory-store.ts'

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** Keys by name. Values are sealed with the current one; the others open what was sealed before. */
export interface KeyRing {
  /** Name of the key that new values are sealed with. */
  current: string
  /** AES-256 keys: 32 random bytes each, for example from `crypto.getRandomValues`. */
  keys: Readonly<Record<string, Uint8Array>>
}

/** A sealed value as it is stored. `data` is the ciphertext followed by its 16-byte tag, in base64. */
export type Envelope = { sealed: 'aes-256-gcm'; v: 1; kid: string; iv: string; data: string }

/** Encrypts values and binds them to their address: a ciphertext that was moved does not open. */
export interface Sealer {
  /** The key that `seal` uses. */
  readonly current: string
  seal(address: Address, value: JsonValue): Promise<Envelope>
  /**
   * @throws MemoryError NOT_SUPPORTED when the ring lacks the key, CORRUPTION when the value was altered, was
   * moved here from another key, scope or namespace, or was sealed with other bytes under the key's name
   */
  open(address: Address, envelope: Envelope): Promise<JsonValue>
}

/** Whether a value is sealed, whatever its key and format version. */
export const isEnvelope = (value: JsonValue): value is Envelope =>
  isJsonObject(value) &&
  value.sealed === 'aes-256-gcm' &&
  ['kid', 'iv', 'data'].every((name) => typeof value[name] === 'string')

/** Name of the key when the user gives one key and no ring. */
const onlyKey = 'default'

/**
 * AES-256-GCM (NIST SP 800-38D) from Web Crypto, with a random 96-bit nonce for each value. With random nonces one key
 * should seal at most 2^32 values: rotate before that. Namespace, scope and key are authenticated.
 *
 * @throws MemoryError INVALID_INPUT when a key is not 32 bytes long or the current one is not in the ring
 */
export function createSealer(given: Uint8Array | KeyRing): Sealer {
  const ring = isBytes(given) ? { current: onlyKey, keys: { [onlyKey]: given } } : given
  if (!isObject(ring)) throw badRing('a key is a Uint8Array of 32 bytes, not a string')
  if (!isObject(ring.keys)) throw badRing('a ring has keys by name, and the name of the current one')
  for (const [name, bytes] of Object.entries(ring.keys)) {
    if (!isBytes(bytes)) throw badRing(`key '${name}' is not a Uint8Array`)
    if (bytes.length !== 32) throw badRing(`key '${name}' has ${bytes.length} bytes: AES-256 takes 32`)
  }
  if (!Object.hasOwn(ring.keys, ring.current)) throw badRing(`the ring holds no key '${ring.current}'`)
  const raw = new Map(Object.entries(ring.keys).map(([name, bytes]) => [name, new Uint8Array(bytes)]))
  const imported = new Map<string, Promise<CryptoKey>>()

  const keyNamed = (name: string, address: Address): Promise<CryptoKey> => {
    const bytes = raw.get(name)
    if (!bytes) throw missingKey(name, address)
    const known = imported.get(name) ?? importKey(bytes)
    imported.set(name, known)
    return known
  }

  return {
    current: ring.current,

    async seal(address, value) {
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const key = await keyNamed(ring.current, address)
      const additionalData = addressBytes(ring.current, address)
      const text = new TextEncoder().encode(JSON.stringify(value))
      const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, text)
      const kid = ring.current
      return { sealed: 'aes-256-gcm', v: 1, kid, iv: toBase64(iv), data: toBase64(new Uint8Array(data)) }
    },

    async open(address, envelope) {
      const { kid, v } = envelope
      if (v !== 1)
        throw unreadable(address, `it was sealed in format ${String(v)}, which this version does not know`)
      const key = await keyNamed(kid, address)
      try {
        const algorithm = {
          name: 'AES-GCM',
          iv: fromBase64(envelope.iv),
          additionalData: addressBytes(kid, address),
        }
        const text = await crypto.subtle.decrypt(algorithm, key, fromBase64(envelope.data))
        return JSON.parse(new TextDecoder().decode(text)) as JsonValue
      } catch (cause) {
        const reason = `it was altered or moved, or key '${kid}' is not the one it was sealed with`
        throw unreadable(address, reason, cause)
      }
    },
  }
}

const isObject = (given: unknown): boolean => typeof given === 'object' && given !== null

const isBytes = (key: unknown): key is Uint8Array => key instanceof Uint8Array

const importKey = (bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])

/** Additional authenticated data, so that a ciphertext does not open under another address. */
const addressBytes = (kid: string, { namespace, scope, key }: Address): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify([1, kid, namespace, scope, key]))

function toBase64(bytes: Uint8Array): string {
  let text = ''
  // In chunks: one argument per byte of a large value would overflow the stack.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  }
  return btoa(text)
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

const badRing = (message: string): MemoryError =>
  new MemoryError(`encryptionKey: ${message}`, MemoryErrorCode.INVALID_INPUT)

export function missingKey(name: string, { scope, key }: Address): MemoryError {
  return new MemoryError(
    `'${key}' is encrypted with key '${name}', which was not supplied: pass it as encryptionKey, or read and search with decrypt: false`,
    MemoryErrorCode.NOT_SUPPORTED,
    { scope, key },
  )
}

const unreadable = ({ scope, key }: Address, reason: string, cause?: unknown): MemoryError =>
  new MemoryError(`'${key}' cannot be decrypted: ${reason}`, MemoryErrorCode.CORRUPTION, {
    scope,
    key,
    cause,
  })
