import * as z from 'zod/mini'
import {
  aFunction,
  atLeastOne,
  endless,
  keySchema,
  maxKeyLength,
  maxSearchLimit,
  memorySchema,
  nameChecks,
  redactPolicySchema,
  tagSchema,
  tagsSchema,
  valueSchemasSchema,
  withMethod,
} from '../front/inputs.ts'
import { withoutKnownSecrets } from '../redaction/redact.ts'
import { lessonKeyOf, statisticKeyOf } from './learned-keys.ts'

const restOfKey = (keyOf: (rest: string) => string) =>
  z.string().check(z.maxLength(maxKeyLength - keyOf('').length), ...nameChecks, noSecretIn(keyOf))

/** Refuses what a write would refuse in a key: found only later, the data to be written under it would be lost. */
const noSecretIn = (keyOf: (part: string) => string) =>
  z.refine<string>((part) => {
    const key = keyOf(part)
    return withoutKnownSecrets(key) === key
  }, 'must not hold a secret, because it becomes part of a key')

const patternSchema = keySchema.check(
  z.maxLength(maxKeyLength - statisticKeyOf('').length),
  noSecretIn((pattern) => pattern),
  noSecretIn(statisticKeyOf),
)

export const outcomeSchema = z.enum(['success', 'partial', 'failure'])
export const lessonSchema = z.looseObject({
  category: tagSchema,
  text: z.string().check(z.refine((text) => text.trim() !== '', 'must say something')),
  /** Becomes part of a key. */
  id: z.optional(restOfKey(lessonKeyOf)),
})

/** The parts of a loop's reflection that are counted, learned, or become keys or tags (next to two other tags). */
export const reflectionSchema = z.looseObject({
  outcome: outcomeSchema,
  lessons: z.array(lessonSchema),
  toolsUsed: z.optional(
    z.array(tagSchema.check(noSecretIn((tool) => statisticKeyOf(`tool:${tool}`)))).check(z.maxLength(254)),
  ),
  patternsUsed: z.optional(z.array(patternSchema)),
})

const tokenBudget = z.union(
  [z.number().check(z.gte(0)), endless],
  'must be a number of tokens, or Infinity for no limit',
)
const contextLimit = z.int().check(z.gte(0), z.lte(maxSearchLimit))
/** Options of `retrieveContext`. */
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

/** Options of `runLoop`. */
export const loopOptionsSchema = z.strictObject({
  /** Becomes part of the key of an episode. */
  loopId: z.optional(restOfKey((id) => `episode:${id}`).check(z.minLength(1))),
  taskId: z.optional(z.string()),
  context: z.optional(contextOptionsSchema),
  clock: aFunction,
})

/** The argument of `findMatchingPatterns`. */
export const situationSchema = z.strictObject({
  tags: z.optional(tagsSchema),
  description: z.optional(z.string()),
  preconditions: z.optional(z.unknown()),
})

const weight = z.number().check(z.gte(0))
/** Options of `createPatternMatcher`. */
export const patternMatcherOptionsSchema = z.strictObject({
  embed: aFunction,
  weights: z.optional(
    z
      .strictObject({ tags: weight, description: weight, preconditions: weight })
      .check(z.refine((weights) => Object.values(weights).some((each) => each > 0), 'must not all be 0')),
  ),
  limit: z.optional(z.int().check(z.gte(1), z.lte(maxSearchLimit))),
})

/** Options of `createLearningRetriever`. */
export const learningOptionsSchema = z.strictObject({
  limit: z.optional(z.int().check(z.gte(1), z.lte(maxSearchLimit))),
})

/** Options of `createMemoryFallback`. */
export const fallbackOptionsSchema = z.strictObject({
  memory: memorySchema,
  queue: z.optional(withMethod('append', 'must be a queue, such as that of createInMemoryQueue')),
  onDegraded: z.custom(
    (given) => typeof given === 'function',
    'must be a function: it is called for every failure',
  ),
  schemas: z.optional(valueSchemasSchema),
  redact: z.optional(redactPolicySchema),
  encryptionKey: z.optional(z.unknown()),
  clock: aFunction,
})

/** Options of `createCleanupScheduler`. Numbers are checked where they are used. */
export const schedulerOptionsSchema = z.strictObject({
  intervals: z.optional(z.looseObject({})),
  jitter: z.optional(z.unknown()),
  random: aFunction,
  timers: z.optional(withMethod('set', 'must be timers, with set, clear and now')),
  onTurn: aFunction,
})

/** Options of `createInMemoryQueue`. The capacity is checked where it is used. */
export const queueOptionsSchema = z.strictObject({ capacity: z.optional(z.unknown()) })

/** Options of `createMemoryCache`. */
export const cacheOptionsSchema = z.strictObject({
  maxBytes: z.optional(atLeastOne),
  // The cache reserves room for all of them at once.
  maxEntries: z.optional(atLeastOne.check(z.lte(1_000_000, 'must be at most 1,000,000'))),
})
