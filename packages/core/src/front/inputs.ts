import * as z from 'zod/mini'
import type { Address } from '../memory-store.ts'
import { invalidInput, parseInput } from '../parse-input.ts'
import { mostPassages } from '../ranking/surest-passages.ts'
import type { ValueSchema } from '../schemas.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import { longestTtl } from '../stores/expiry.ts'
import { hasControlCharacter } from '../text/control-characters.ts'

/** Longest key, in UTF-16 units. */
export const maxKeyLength = 1024
/** Most results one search returns. */
export const maxSearchLimit = 1000
/** Longest query text, in UTF-16 units. */
export const maxQueryLength = 10_000

const wellFormed = z.refine<string>((text) => text.isWellFormed(), 'must be well-formed Unicode')

/** Text decoders strip it, so a text that begins with it would be read back as a different one. */
const byteOrderMark = '\ufeff'

/** Requirements for a text that becomes a key, part of a key, or a tag. */
export const nameChecks = [
  wellFormed,
  z.refine<string>((text) => !hasControlCharacter(text), 'must not hold control characters'),
  z.refine<string>(
    (text) => !text.startsWith(byteOrderMark),
    'must not begin with a byte order mark (U+FEFF)',
  ),
] as const

export const keySchema = z.string().check(z.minLength(1), z.maxLength(maxKeyLength), ...nameChecks)
const scopeSchema = z.enum(memoryScopes)
export const tagSchema = z.string().check(z.minLength(1), z.maxLength(256), ...nameChecks)
export const tagsSchema = z.array(tagSchema).check(z.maxLength(256))
const timestamp = z.number().check(z.nonnegative())
/** The time of the last write; negative for a date before 1970. */
const version = z.number()
/** The limit of Postgres. */
const maxDimensions = 16_000
/** Models give their vectors as typed arrays. */
const vector = z.pipe(
  z.transform((given: unknown) => (ArrayBuffer.isView(given) ? Array.from(given as Float32Array) : given)),
  z.array(z.number()).check(z.minLength(1), z.maxLength(maxDimensions)),
)
const positive = z.number().check(z.positive('must be above 0'))
export const endless = z.literal(Number.POSITIVE_INFINITY)
const ttl = z.union(
  [
    z
      .number()
      .check(
        z.positive('must be above 0; use Infinity to keep the entry for ever'),
        z.lte(
          longestTtl,
          'must be at most 1e14, three thousand years; use Infinity to keep the entry for ever',
        ),
      ),
    endless,
  ],
  'must be a number of milliseconds, or Infinity to keep the entry for ever',
)
const quota = z.union([positive, endless], 'must be a number of bytes, or Infinity for no limit')

export const writeOptionsSchema = z.strictObject({
  ttl: z.optional(ttl),
  overwrite: z.optional(z.boolean()),
  encrypt: z.optional(z.boolean()),
  index: z.optional(z.boolean()),
  tags: z.optional(tagsSchema),
  type: z.optional(tagSchema),
  text: z.optional(z.string()),
  embedding: z.optional(vector),
})

const policiesSchema = z.strictObject({
  defaultTtl: z.optional(z.partialRecord(scopeSchema, ttl)),
  quotas: z.optional(z.partialRecord(scopeSchema, quota)),
})

export const redactPolicySchema = z.enum(['redact', 'reject', 'allow'])

/** A schema of a scope that does not exist would never check anything. */
export const valueSchemasSchema = z.partialRecord(
  scopeSchema,
  z.record(
    z.string(),
    z.custom<ValueSchema>(
      (schema) => typeof (schema as Partial<ValueSchema> | undefined)?.safeParse === 'function',
      'must be a schema with a method safeParse, such as those of zod',
    ),
  ),
)

export const aFunction = z.optional(z.custom((given) => typeof given === 'function', 'must be a function'))
export const withMethod = (name: string, message: string) =>
  z.custom((given) => typeof (given as Record<string, unknown> | null)?.[name] === 'function', message)
const memoryMessage = 'must be a memory, such as that of createMemoryManager'
export const memorySchema = withMethod('read', memoryMessage)
export const atLeastOne = z.int().check(z.positive('must be above 0'))

/** What can be checked before the first call. With a `maxBatch` of 0, for example, embedding would never end. */
const embedderSchema = z.pipe(
  withMethod('embed', 'must be an embedder, such as those of @recall/embeddings'),
  z.object({
    model: z.string().check(z.minLength(1, 'must name the space of its vectors')),
    dimensions: atLeastOne.check(z.maximum(maxDimensions)),
    maxTokens: z.optional(atLeastOne),
    maxBatch: z.optional(atLeastOne),
  }),
)

/** Options of a memory that opens its own stores. Keys are checked where they are used. */
export const memoryOptionsSchema = z.strictObject({
  namespace: z.optional(keySchema),
  embedder: z.optional(embedderSchema),
  schemas: z.optional(valueSchemasSchema),
  redact: z.optional(redactPolicySchema),
  onRedaction: aFunction,
  policies: z.optional(policiesSchema),
  encryptionKey: z.optional(z.unknown()),
  cache: z.optional(withMethod('get', 'must be a cache, such as that of createMemoryCache')),
  clock: aFunction,
})

/**
 * Options of `createMemoryManager`. An unknown option is probably misspelt, and ignoring it would hide that. Stores are
 * checked where they are used.
 */
export const managerOptionsSchema = z.extend(memoryOptionsSchema, { stores: z.optional(z.unknown()) })

/** Most changes that one batch or atomic update may hold. */
const maxBatchSize = 10_000

export const keysSchema = z.array(keySchema).check(z.maxLength(maxBatchSize))
const write = { key: keySchema, value: z.unknown(), options: z.optional(writeOptionsSchema) }
export const batchSchema = z.array(z.strictObject(write)).check(z.maxLength(maxBatchSize))
/**
 * `ifUpdatedAt: undefined` is refused: a reader that found no entry has it, and it must not allow overwriting a newer
 * one.
 */
export const updatesSchema = z
  .array(
    z.discriminatedUnion('operation', [
      z
        .strictObject({
          operation: z.literal('set'),
          ...write,
          ifUpdatedAt: z.exactOptional(version),
          keepOptions: z.optional(z.boolean()),
        })
        .check(
          z.refine(
            ({ keepOptions, ifUpdatedAt }) => !keepOptions || ifUpdatedAt !== undefined,
            'keepOptions needs ifUpdatedAt, the version whose options are kept',
          ),
        ),
      z.strictObject({
        operation: z.literal('delete'),
        key: keySchema,
        value: z.optional(z.unknown()),
        ifUpdatedAt: z.exactOptional(version),
      }),
    ]),
  )
  .check(z.maxLength(maxBatchSize))

export const readOptionsSchema = z.strictObject({
  decrypt: z.optional(z.boolean()),
  includeMetadata: z.optional(z.boolean()),
  includeArchived: z.optional(z.boolean()),
})

export const searchQuerySchema = z.strictObject({
  text: z.optional(z.string().check(z.maxLength(maxQueryLength), wellFormed)),
  // Checked by `parseFilter`. `z.record` would leave out a condition on a member named `__proto__`.
  filters: z.optional(z.custom<Record<string, unknown>>()),
  embedding: z.optional(vector),
  tags: z.optional(tagsSchema),
})

export const searchOptionsSchema = z.strictObject({
  limit: z.optional(z.int().check(z.gte(1), z.lte(maxSearchLimit))),
  offset: z.optional(z.int().check(z.nonnegative())),
  sortBy: z.optional(z.enum(['relevance', 'recency', 'accessCount'])),
  sortOrder: z.optional(z.enum(['asc', 'desc'])),
  minScore: z.optional(z.number().check(z.gte(0), z.lte(1))),
  minConfidence: z.optional(z.number().check(z.gte(0), z.lte(1))),
  touch: z.optional(z.boolean()),
  explain: z.optional(z.boolean()),
  passages: z.optional(z.int().check(z.minimum(1), z.maximum(mostPassages))),
  includeArchived: z.optional(z.boolean()),
  decrypt: z.optional(z.boolean()),
})

// A member that is `undefined`, or an empty list, would match every entry and clear the whole scope.
export const clearFilterSchema = z.strictObject({
  olderThan: z.exactOptional(timestamp),
  tags: z.exactOptional(tagsSchema.check(z.minLength(1, 'must name a tag; leave tags out to clear all'))),
  type: z.exactOptional(z.string().check(z.minLength(1, 'must name a type; leave type out to clear all'))),
})

export const cleanupOptionsSchema = z.strictObject({
  scope: z.optional(scopeSchema),
  dryRun: z.optional(z.boolean()),
  threshold: z.optional(z.number().check(z.gte(0), z.lte(1))),
  archiveBefore: z.optional(timestamp),
})

/** `parseInput` with `keySchema`, but a valid key skips the validator, which costs microseconds. */
export function parseKey(key: string): string {
  const isKey =
    typeof key === 'string' &&
    key.length > 0 &&
    key.length <= maxKeyLength &&
    !hasControlCharacter(key) &&
    !key.startsWith(byteOrderMark) &&
    key.isWellFormed()
  return isKey ? key : parseInput(keySchema, key, 'key')
}

/** `parseInput` with `scopeSchema`, with the same shortcut. */
export const parseScope = (scope: MemoryScope): MemoryScope =>
  memoryScopes.includes(scope) ? scope : parseInput(scopeSchema, scope, 'scope')

/** @throws MemoryError INVALID_INPUT for what is no memory, such as a promise of one */
export function checkMemory(memory: unknown): void {
  // Not by `parseInput`, because a memory may be an instance of a class.
  if (memorySchema.safeParse(memory).success) return
  throw invalidInput('memory', [{ path: [], message: memoryMessage }])
}

/** @throws MemoryError INVALID_INPUT for an address that no call of a memory takes */
export function checkAddress({ namespace, scope, key }: Address): void {
  parseInput(keySchema, namespace, 'namespace')
  parseScope(scope)
  parseKey(key)
}
