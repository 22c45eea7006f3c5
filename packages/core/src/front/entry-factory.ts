import type { Embedder } from '../embedder.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJson, type JsonValue, searchableText, toJsonValue } from '../json.ts'
import type { WriteOptions } from '../memory-manager.ts'
import type { Address, Entry, MemoryStore } from '../memory-store.ts'
import { parseInput } from '../parse-input.ts'
import { embeddedTexts } from '../ranking/embedded-texts.ts'
import { withoutKnownSecrets } from '../redaction/redact.ts'
import {
  createRedactor,
  type RedactableContent,
  type RedactionReport,
  type RedactPolicy,
} from '../redaction/redactor.ts'
import type { ValueSchemas } from '../schemas.ts'
import type { MemoryScope } from '../scope.ts'
import { conversationType, windowNotesKey } from '../session-keys.ts'
import { statedType } from '../stores/entry-identity.ts'
import { checkKept, checkWritten } from './check-values.ts'
import { embedTexts } from './embed-texts.ts'
import { isEnvelope, type Sealer } from './encryption.ts'
import { writeOptionsSchema } from './inputs.ts'

export interface EntryFactoryOptions {
  schemas: ValueSchemas
  redact: RedactPolicy
  onRedaction: ((report: RedactionReport) => void) | undefined
  embedder: Embedder | undefined
  sealer: Sealer | undefined
  /** Milliseconds by scope; entries of a scope without one never expire. */
  defaultTtl: Partial<Record<MemoryScope, number>>
}

/** An entry without its vectors, and the texts to make them from. */
export interface Draft {
  entry: Entry
  unembedded: readonly string[]
}

export interface MadeOf {
  now: number
  /** Reads the version whose options are kept where the write gives none. */
  earlier?: () => Promise<Entry | null>
}

export interface EntryFactory {
  /** The value is copied before the call returns. */
  draft(
    store: MemoryStore,
    address: Address,
    value: unknown,
    options: WriteOptions | undefined,
    made: MadeOf,
  ): Promise<Draft>
  /** The entries of all drafts, in their order; the texts of all go to the embedder together. */
  embed(drafts: readonly Draft[]): Promise<Entry[]>
}

/** Turns a write into an entry before a store sees it: checks, redacts, embeds or encrypts it and sets its times. */
export function createEntryFactory(options: EntryFactoryOptions): EntryFactory {
  const { schemas, embedder, sealer, defaultTtl } = options
  const model = embedder?.model ?? 'custom'
  const redactor = createRedactor(options.redact, options.onRedaction)

  const checkPossible = (store: MemoryStore, address: Address, wanted: WriteOptions): void => {
    const { encrypt, embedding, text } = wanted
    if (encrypt && !sealer) throw noKey(address)
    if (embedding && !store.capabilities.semantic) throw noVectors(store, address.scope)
    if (encrypt && (embedding || text)) throw encryptedYetIndexed(address)
    if (embedding && embedder) checkLength(embedding, embedder, address)
  }

  const textsToEmbed = ({ text, type }: Pick<Entry, 'text' | 'type'>): readonly string[] =>
    embedder && text !== '' ? embeddedTexts(text, type === conversationType) : []

  /** The content of a write, without its options: checked, copied and free of secrets. */
  const cleanContent = (address: Address, value: unknown, wanted: WriteOptions): RedactableContent => {
    const { scope, key } = address
    const { text = null, type = null, tags = [] } = wanted
    const checked = toJson(checkWritten(schemas, scope, key, value), address, value)
    if (isEnvelope(checked)) throw looksSealed(address)
    if (scope === 'short-term' && key === windowNotesKey && typeof checked !== 'string')
      throw noNotes(address)
    const clean = redactor.redact(address, { value: checked, text, type, tags: [...tags] })
    checkKept(schemas, scope, key, clean.value)
    return clean
  }

  /** What an entry is found by besides its type. */
  const foundBy = (
    store: MemoryStore,
    clean: RedactableContent,
    wanted: WriteOptions,
    before: Entry | null,
  ): Pick<Entry, 'text' | 'embedding'> & Pick<Draft, 'unembedded'> => {
    // Words and vectors would give away what the ciphertext hides.
    if (wanted.index === false || wanted.encrypt) return { text: '', embedding: null, unembedded: [] }
    const text = clean.text ?? textGivenFor(before, wanted) ?? searchableText(clean.value)
    if (!store.capabilities.semantic) return { text, embedding: null, unembedded: [] }
    const own = wanted.embedding ? embeddingOf(model, [wanted.embedding]) : null
    const embedding = own ?? vectorsOf(before, text)
    return { text, embedding, unembedded: embedding ? [] : textsToEmbed({ text, type: clean.type }) }
  }

  /** The type that was given to an entry explicitly; `undefined` when it only comes from the value. */
  const typeGivenFor = async (entry: Entry | null): Promise<string | undefined> => {
    if (entry === null || entry.type === null) return undefined
    const { value, type } = entry
    const open = isEnvelope(value) && sealer ? await sealer.open(entry, value) : value
    return type === statedType(open) ? undefined : type
  }

  /** The vectors of the earlier version, unless the text has changed and can be embedded again. */
  const vectorsOf = (before: Entry | null, text: string): Entry['embedding'] =>
    before && (before.text === text || !embedder) ? before.embedding : null

  return {
    async draft(store, address, value, given, { now, earlier }) {
      redactor.checkKey(address.key, address.scope)
      const wanted = given === undefined ? noOptions : parseInput(writeOptionsSchema, given, 'options')
      const clean = cleanContent(address, value, wanted)
      const before = (await earlier?.()) ?? null
      const encrypt = wanted.encrypt ?? before?.encrypted ?? false
      checkPossible(store, address, { ...wanted, encrypt })
      const isSealed = encrypt && sealer !== undefined
      const type = clean.type ?? (await typeGivenFor(before)) ?? statedType(clean.value)
      const { unembedded, ...found } = foundBy(store, { ...clean, type }, { ...wanted, encrypt }, before)
      const ttl = wanted.ttl ?? (before ? before.ttl : defaultTtl[address.scope])
      const tags = wanted.tags === undefined && before ? before.tags : clean.tags
      const entry = {
        ...address,
        value: isSealed ? await sealer.seal(address, clean.value) : clean.value,
        type,
        ...found,
        tags: [...new Set(tags)],
        createdAt: now,
        updatedAt: now,
        accessedAt: now,
        accessCount: 0,
        ...expiryOf(ttl, now),
        encrypted: isSealed,
      }
      return { entry, unembedded }
    },

    async embed(drafts) {
      if (!embedder) return drafts.map(({ entry }) => entry)
      const texts = drafts.flatMap(({ unembedded }) => unembedded)
      const vectors = await embedTexts(embedder, texts, 'document')
      return drafts.map(({ entry, unembedded }) => {
        const ofEntry = vectors.splice(0, unembedded.length)
        return ofEntry.length === 0 ? entry : { ...entry, embedding: embeddingOf(model, ofEntry) }
      })
    },
  }
}

/** The window shows its notes as they are, so they must be text. */
const noNotes = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' is the notes of the window, which are text: keep other values under another key`,
    MemoryErrorCode.INVALID_INPUT,
    { scope, key },
  )

/** The text that an entry is found by instead of its own strings; empty when it is not indexed and stays so. */
function textGivenFor(entry: Entry | null, { index = false }: WriteOptions): string | undefined {
  if (!entry || entry.encrypted || entry.text === searchableText(entry.value)) return undefined
  return index && entry.text === '' ? undefined : entry.text
}

/** In whole milliseconds, because not every store keeps fractions. */
function expiryOf(ttl: number | null | undefined, now: number): Pick<Entry, 'ttl' | 'expiresAt'> {
  const whole = Math.ceil(ttl ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(whole) ? { ttl: whole, expiresAt: now + whole } : { ttl: null, expiresAt: null }
}

/** The normalised sum of the units' vectors, and each of them when there are several. */
function embeddingOf(model: string, vectors: readonly ArrayLike<number>[]): Entry['embedding'] {
  const [first] = vectors
  if (!first) return null
  if (vectors.length === 1) return { model, vector: Array.from(first) }
  const sum = Array.from(first, (_, i) => vectors.reduce((total, vector) => total + (vector[i] as number), 0))
  const length = Math.hypot(...sum) || 1
  return {
    model,
    vector: sum.map((value) => value / length),
    units: vectors.map((vector) => Array.from(vector)),
  }
}

const noOptions: WriteOptions = {}

/** No text query would find a vector of another length. */
function checkLength(
  vector: ArrayLike<number>,
  { model, dimensions }: Embedder,
  { scope, key }: Address,
): void {
  if (vector.length === dimensions) return
  throw new MemoryError(
    `the embedding has ${vector.length} dimensions, those of ${model} have ${dimensions}`,
    MemoryErrorCode.INVALID_INPUT,
    { scope, key },
  )
}

export const noVectors = (store: MemoryStore, scope: MemoryScope): MemoryError =>
  new MemoryError(
    `the ${store.name} store takes no vectors from callers: search by text`,
    MemoryErrorCode.NOT_SUPPORTED,
    { scope },
  )

export const noKey = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    'no encryption key was supplied: pass encryptionKey when the memory is created',
    MemoryErrorCode.NOT_SUPPORTED,
    { scope, key },
  )

export const encryptedYetIndexed = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    'an encrypted value is not indexed: leave out text and embedding',
    MemoryErrorCode.INVALID_INPUT,
    { scope, key },
  )

export const looksSealed = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    'the value looks like an encrypted one: read it decrypted, and write it with encrypt: true',
    MemoryErrorCode.INVALID_INPUT,
    { scope, key },
  )

/**
 * @param given the value before the key's schema changed it
 * @throws MemoryError INVALID_INPUT naming what JSON cannot hold
 */
export function toJson(value: unknown, { scope, key }: Address, given: unknown): JsonValue {
  try {
    return toJsonValue(value)
  } catch (error) {
    // The message may name a member whose name is a secret, so the cause is left out.
    const problem = withoutKnownSecrets((error as Error).message)
    const message = isJson(given)
      ? `the output of the schema of '${key}' cannot be kept: ${problem}. Let it return what JSON can hold`
      : problem
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT, { scope, key })
  }
}
