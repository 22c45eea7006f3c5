import * as z from 'zod/mini'
import en from 'zod/v4/locales/en.js'
import { MemoryError, MemoryErrorCode, type MemoryErrorContext } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { Address } from '../memory-store.ts'
import { mostPassages } from '../ranking/surest-passages.ts'
import { withoutKnownSecrets } from '../redaction/redact.ts'
import type { ValueSchema } from '../schemas.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import { hasControlCharacter } from '../text/control-characters.ts'

/** Longest key, in UTF-16 units. */
const maxKeyLength = 1024
/** Most results one search returns. */
const maxSearchLimit = 1000
/** Longest query text, in UTF-16 units. */
export const maxQueryLength = 10_000

// zod/mini has no messages of its own; importing this one locale keeps the other forty from loading.
const english = en().localeError

const wellFormed = z.refine<string>((text) => text.isWellFormed(), 'must be well-formed Unicode')
const printable = z.refine<string>((text) => !hasControlCharacter(text), 'must not hold control characters')

/** Decoders of text take it off: what begins with it would be read as another text. */
const byteOrderMark = '\ufeff'
const unmarked = z.refine<string>(
  (text) => !text.startsWith(byteOrderMark),
  'must not begin with a byte order mark (U+FEFF)',
)

const keySchema = z.string().check(z.minLength(1), z.maxLength(maxKeyLength), wellFormed, printable, unmarked)
const scopeSchema = z.enum(memoryScopes)
const tagSchema = z.string().check(z.minLength(1), z.maxLength(256), wellFormed, printable, unmarked)
const tagsSchema = z.array(tagSchema).check(z.maxLength(256))
const timestamp = z.number().check(z.nonnegative())
/** The time of a last write. What people and clocks date before 1970 is negative. */
const version = z.number()
/** What Postgres keeps. */
const maxDimensions = 16_000
/** Models give their vectors as typed arrays. */
const vector = z.pipe(
  z.transform((given: unknown) => (ArrayBuffer.isView(given) ? Array.from(given as Float32Array) : given)),
  z.array(z.number()).check(z.minLength(1), z.maxLength(maxDimensions)),
)
const positive = z.number().check(z.positive('must be above 0'))
/** Milliseconds, about three thousand years: keeps every expiry within the range of a `Date`. */
const longestTtl = 1e14
const endless = z.literal(Number.POSITIVE_INFINITY)
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

const redactPolicySchema = z.enum(['redact', 'reject', 'allow'])

/** A schema of a scope that does not exist would never check anything. */
const valueSchemasSchema = z.partialRecord(
  scopeSchema,
  z.record(
    z.string(),
    z.custom<ValueSchema>(
      (schema) => typeof (schema as Partial<ValueSchema> | undefined)?.safeParse === 'function',
      'must be a schema with a method safeParse, such as those of zod',
    ),
  ),
)

const aFunction = z.optional(z.custom((given) => typeof given === 'function', 'must be a function'))
const withMethod = (name: string, message: string) =>
  z.custom((given) => typeof (given as Record<string, unknown> | null)?.[name] === 'function', message)
const atLeastOne = z.int().check(z.positive('must be above 0'))

/** What is known of an embedder before it embeds: of no texts at once, for example, it would never make an end. */
const embedderSchema = z.pipe(
  withMethod('embed', 'must be an embedder, such as those of @recall/embeddings'),
  z.object({
    model: z.string().check(z.minLength(1, 'must name the space of its vectors')),
    dimensions: atLeastOne.check(z.maximum(maxDimensions)),
    maxTokens: z.optional(atLeastOne),
    maxBatch: z.optional(atLeastOne),
  }),
)

/** Of a memory that is opened with stores of its own. Keys are checked where they are used. */
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
 * Of `createMemoryManager`: an unknown option is probably misspelt, and to ignore it would hide that. Stores are
 * checked where they are used.
 */
export const managerOptionsSchema = z.extend(memoryOptionsSchema, { stores: z.optional(z.unknown()) })

/** Most changes that one batch or atomic update may hold. */
const maxBatchSize = 10_000

export const keysSchema = z.array(keySchema).check(z.maxLength(maxBatchSize))
const write = { key: keySchema, value: z.unknown(), options: z.optional(writeOptionsSchema) }
export const batchSchema = z.array(z.strictObject(write)).check(z.maxLength(maxBatchSize))
/** `ifUpdatedAt: undefined` is what a reader has of an entry that was not there: no leave to overwrite one that is. */
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
            'keepOptions needs ifUpdatedAt: the version whose options stay',
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
  // Looked into by `parseFilter`. `z.record` would leave out a condition on a member named `__proto__`.
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

// A member that is `undefined`, and an empty list, would match every entry and clear the whole scope.
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

const restOfKey = (beginning: string) =>
  z
    .string()
    .check(
      z.maxLength(maxKeyLength - beginning.length),
      wellFormed,
      printable,
      unmarked,
      noSecretBehind(beginning),
    )

/** As a write refuses a key: what becomes one later would lose what is written with it. */
const noSecretIn = (keyOf: (part: string) => string) =>
  z.refine<string>((part) => {
    const key = keyOf(part)
    return withoutKnownSecrets(key) === key
  }, 'must not hold a secret, as it becomes part of a key')

const noSecretBehind = (beginning: string) => noSecretIn((rest) => beginning + rest)

/** Key of the outcomes of a pattern that cannot hold them itself. */
export const statisticKeyOf = (pattern: string): string => `statistic:${pattern.replaceAll('#', ':')}`

const patternSchema = keySchema.check(
  z.maxLength(maxKeyLength - statisticKeyOf('').length),
  noSecretBehind(''),
  noSecretIn(statisticKeyOf),
)

/** Becomes part of the key of an episode. */
export const loopIdSchema = restOfKey('episode:')
export const outcomeSchema = z.enum(['success', 'partial', 'failure'])
export const lessonSchema = z.looseObject({
  category: tagSchema,
  text: z.string().check(z.refine((text) => text.trim() !== '', 'must say something')),
  /** Becomes part of a key. */
  id: z.optional(restOfKey('lesson:')),
})

/** What of a loop's reflection is counted, learned, and becomes tags, beside two others, and keys. */
export const reflectionSchema = z.looseObject({
  outcome: outcomeSchema,
  lessons: z.array(lessonSchema),
  toolsUsed: z.optional(z.array(tagSchema.check(noSecretBehind('statistic:tool:'))).check(z.maxLength(254))),
  patternsUsed: z.optional(z.array(patternSchema)),
})

const tokenBudget = z.union(
  [z.number().check(z.gte(0)), endless],
  'must be a number of tokens, or Infinity for no limit',
)
const contextLimit = z.int().check(z.gte(0), z.lte(maxSearchLimit))
/** Of `retrieveContext`. */
export const contextOptionsSchema = z.strictObject({
  limits: z.optional(
    z.strictObject({
      playbooks: z.optional(contextLimit),
      episodes: z.optional(contextLimit),
      recent: z.optional(contextLimit),
    }),
  ),
  maxTokens: z.optional(tokenBudget),
  countTokens: aFunction,
  minScore: z.optional(z.number().check(z.gte(0), z.lte(1))),
})

/** Of `findMatchingPatterns`. */
export const situationSchema = z.strictObject({
  tags: z.optional(tagsSchema),
  description: z.optional(z.string()),
  preconditions: z.optional(
    z.custom<Record<string, unknown>>(isJsonObject, 'must be an object of conditions'),
  ),
})

const weight = z.number().check(z.gte(0))
/** Of `createPatternMatcher`. */
export const patternMatcherOptionsSchema = z.strictObject({
  embed: aFunction,
  weights: z.optional(
    z
      .strictObject({ tags: weight, description: weight, preconditions: weight })
      .check(z.refine((weights) => Object.values(weights).some((each) => each > 0), 'must not all be 0')),
  ),
  limit: z.optional(z.int().check(z.gte(1), z.lte(maxSearchLimit))),
})

/** Of `createMemoryFallback`. */
export const fallbackOptionsSchema = z.strictObject({
  memory: withMethod('read', 'must be a memory, such as that of createMemoryManager'),
  queue: z.optional(withMethod('append', 'must be a queue, such as that of createInMemoryQueue')),
  onDegraded: z.custom(
    (given) => typeof given === 'function',
    'must be a function: it is told of every failure',
  ),
  schemas: z.optional(valueSchemasSchema),
  redact: z.optional(redactPolicySchema),
  encryptionKey: z.optional(z.unknown()),
  clock: aFunction,
})

/** Of `createCleanupScheduler`. Its numbers are checked where they are used. */
export const schedulerOptionsSchema = z.strictObject({
  intervals: z.optional(z.looseObject({})),
  jitter: z.optional(z.unknown()),
  random: aFunction,
  timers: z.optional(withMethod('set', 'must be timers, with set, clear and now')),
  onTurn: aFunction,
})

/** Of `createInMemoryQueue`. Its capacity is checked where it is used. */
export const queueOptionsSchema = z.strictObject({ capacity: z.optional(z.unknown()) })

/** Of `createMemoryCache`. */
export const cacheOptionsSchema = z.strictObject({
  maxBytes: z.optional(atLeastOne),
  // The cache reserves room for all of them at once.
  maxEntries: z.optional(atLeastOne.check(z.lte(1_000_000, 'must be at most 1,000,000'))),
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

/** @throws MemoryError INVALID_INPUT for an address that no call of a memory takes */
export function checkAddress({ namespace, scope, key }: Address): void {
  parseInput(keySchema, namespace, 'namespace')
  parseScope(scope)
  parseKey(key)
}

/** @throws MemoryError INVALID_INPUT with every problem and its path */
export function parseInput<T>(schema: z.ZodMiniType<T>, input: unknown, name: string): T {
  // A date, a map or a promise has no members: taken for a filter, it would be one that everything passes.
  if (isInstance(input)) {
    const wanted = schema._zod.def.type === 'array' ? 'a list' : 'a plain object'
    throw invalidInput(name, [{ path: [], message: `must be ${wanted}` }])
  }
  const result = schema.safeParse(input, { error: english })
  if (result.success) return result.data
  throw invalidInput(name, result.error.issues)
}

const isInstance = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && !Array.isArray(input) && !isJsonObject(input)

/** The error that tells of every problem with an input, where it lies, without secrets that stand in names. */
export function invalidInput(
  name: string,
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
  at: Pick<MemoryErrorContext, 'scope' | 'key'> = {},
): MemoryError {
  // A member's name may be a secret: it stands in the path, and in some messages.
  const problems = issues.map(({ path, message }) => ({
    path: [name, ...path.map((part) => withoutKnownSecrets(String(part)))].join('.'),
    message: withoutKnownSecrets(message),
  }))
  return new MemoryError(problemsInWords(problems), MemoryErrorCode.INVALID_INPUT, {
    ...at,
    details: { issues: problems },
  })
}

/** A batch may be wrong in ten thousand places: who reads the message needs a few of them. */
const mostTold = 5

/** One line for a message: the first five problems with their paths, and how many more there are. */
export function problemsInWords(problems: readonly { path: string; message: string }[]): string {
  const told = problems
    .slice(0, mostTold)
    .map(({ path, message }) => (path ? `${path}: ${message}` : message))
  const more = problems.length - told.length
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
