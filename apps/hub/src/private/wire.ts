import { z } from '@hono/zod-openapi'
import {
  comparisons,
  type Filter,
  type JsonValue,
  listComparisons,
  memoryScopes,
  mostListed,
} from '@recall/core'
import { isJson } from '@recall/core/json'
import { longestTtl } from '@recall/core/stores'
import { hasControlCharacter } from '@recall/core/text'
import { listOf } from '../routes/list-of.ts'

/**
 * The input and output of calls on private memory: those of a store, with everything optional that has a default. An
 * unknown member is refused: it is probably misspelt, and ignoring it would hide that.
 */

const printable = (text: string): boolean => text.isWellFormed() && !hasControlCharacter(text)

/** A text that is compared and therefore has to be read as it was written: decoders strip a byte order mark. */
const name = z
  .string()
  .refine(printable, 'must not hold control characters')
  .refine((text) => !text.startsWith('\ufeff'), 'must not begin with a byte order mark (U+FEFF)')
const key = name.min(1).max(1024)
const tags = listOf(name.min(1).max(256), 256)
const model = name.max(256)
/** Milliseconds since 1970, within the range of `Date`. Times that are only compared may be any number. */
const time = z.number().min(-8.64e15).max(8.64e15)
const vector = listOf(z.number(), 16_000).min(1)

/** The place that a call works on, within the memory of the agent that the key identifies. */
export const placeSchema = z.strictObject({
  namespace: key.default('default'),
  archived: z.boolean().default(false),
})

export const addressSchema = placeSchema.extend({ key })

/** For calls that an archive does not support, or that name it themselves: the option would have no effect. */
const unarchived = {
  archived: z
    .literal(false, 'must be false or left out: this call does not work on the archive')
    .default(false),
}
export const statsSchema = placeSchema.extend(unarchived)
export const stampSchema = addressSchema.extend(unarchived)

/**
 * Most values in one call, counting every item of a list and every member of an object: going through more would hold
 * up other calls.
 */
const mostValues = 100_000
const tooManyValues = `must hold no more than ${mostValues} items and members in total: keep it as text, in several entries, or in several batches`

/** Whether values, with everything inside them, are few enough. Looks at no more of them than that. */
function areFew(...values: unknown[]): boolean {
  const left = [...values]
  for (let seen = left.length; left.length > 0; ) {
    const value = left.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
    seen += inner.length
    if (seen > mostValues) return false
    for (const each of inner) left.push(each)
  }
  return true
}

/** Any JSON. */
const anything = z
  .unknown()
  .refine((value) => value !== undefined, { error: 'must be there: any JSON, also null', abort: true })
  .refine((value) => areFew(value), { error: tooManyValues, abort: true })

export const entrySchema = z.strictObject({
  key,
  value: anything,
  text: z.string().optional(),
  type: z.string().nullish(),
  tags: tags.default([]),
  createdAt: time.optional(),
  updatedAt: time.optional(),
  accessedAt: time.optional(),
  accessCount: z.number().int().nonnegative().default(0),
  ttl: z.number().positive().max(longestTtl).nullish(),
  expiresAt: time.nullish(),
  encrypted: z.boolean().default(false),
  embedding: z
    .strictObject({ model, vector, units: listOf(vector, 10_000).optional() })
    .refine(
      ({ vector, units = [] }) => units.every(({ length }) => length === vector.length),
      'the vectors of units must be as long as that of the entry',
    )
    .nullish(),
})

const overwrite = z.boolean().default(true)
const now = time.optional()
/** A value no deeper than one that can be stored: a deeper one would exhaust the stack of code that walks it. */
const json = anything.refine(isJson, 'is nested too deep')
const expected = z.strictObject({ updatedAt: z.number(), value: json }).partial({ value: true }).optional()

export const putSchema = placeSchema.extend({ entry: entrySchema, overwrite, now })
export const getSchema = addressSchema.extend({ now })
export const getManySchema = placeSchema.extend({ keys: listOf(key, 100), now })
export const touchSchema = placeSchema.extend({ ...unarchived, keys: listOf(key, 10_000), now })
export const removeAllSchema = placeSchema.extend({
  updatedBefore: z.number().optional(),
  // An empty list would select everything, which the caller may not have intended.
  tags: tags.min(1, 'must name a tag; leave tags out to remove all').optional(),
  type: z.string().min(1, 'must name a type; leave type out to remove all').optional(),
})
export const sweepSchema = placeSchema.extend({ now, dryRun: z.boolean().default(false) })

export const archiveSchema = sweepSchema.extend({
  ...unarchived,
  /** Archive entries that were last written before this time. */
  before: z.number(),
  limit: z.number().int().min(1).max(10_000).default(1000),
})

export const restoreSchema = addressSchema.extend({ ...unarchived, now })

/** One object rather than a union of two, so that a problem is reported for the member that has it. */
const change = z
  .strictObject({ put: entrySchema.optional(), overwrite, remove: key.optional(), expected })
  .refine(
    ({ put, remove }) => (put === undefined) !== (remove === undefined),
    'must have either put or remove',
  )

export const commitSchema = placeSchema.extend({
  now,
  changes: listOf(change, 10_000)
    .refine(
      (changes) => areFew(...changes.flatMap(({ put, expected }) => [put?.value, expected?.value])),
      tooManyValues,
    )
    .openapi({ description: 'each with either `put` or `remove`' }),
})

const comparison = z.enum(comparisons)
const path = listOf(z.string(), 200)
const operand = json as unknown as z.ZodType<JsonValue>

const filterSchema: z.ZodType<Filter> = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.enum(['all', 'any']), filters: listOf(filterSchema, 500) }),
    z.strictObject({ kind: z.literal('not'), filter: filterSchema }),
    z.strictObject({ kind: z.literal('element'), path, filter: filterSchema }),
    z
      .strictObject({ kind: z.literal('compare'), path, operator: comparison, operand })
      .refine(
        ({ operator, operand }) => !listComparisons.has(operator) || Array.isArray(operand),
        'takes a list',
      ),
  ]),
) as z.ZodType<Filter>

/** No filter of the filter language exceeds these, however it is parsed. */
const most = { parts: 2000, depth: 100, listed: mostListed }

/**
 * Whether a filter is as small as one of the filter language: a larger one could keep the database busy, or crash it.
 */
function isSmall(filter: unknown): boolean {
  const left: [part: unknown, depth: number][] = [[filter, 1]]
  let listed = 0
  for (let seen = 1; left.length > 0; seen++) {
    const [part, depth] = left.pop() as [unknown, number]
    if (seen > most.parts || depth > most.depth) return false
    if (typeof part !== 'object' || part === null) continue
    const { filter, filters, operator, operand } = part as Partial<Record<string, unknown>>
    if (listComparisons.has(String(operator)) && Array.isArray(operand)) listed += operand.length
    if (listed > most.listed) return false
    for (const inner of [filter, filters].flat()) if (inner !== undefined) left.push([inner, depth + 1])
  }
  return true
}

export const findSchema = placeSchema.extend({
  /** To a question of at most 10,000 characters, clients add the dates that it names, in words. */
  text: z.string().max(30_000).optional(),
  /** A filter in the filter language, as people write it. */
  filters: z
    // `z.record` would leave out a condition on a member named `__proto__`.
    .custom<Record<string, unknown>>()
    .refine((filters) => areFew(filters), tooManyValues)
    .optional()
    .openapi({ type: 'object', additionalProperties: {} }),
  /** A parsed filter, as returned by core's `parseFilter`. */
  filter: z
    .unknown()
    .refine(
      isSmall,
      `must have at most ${most.parts} parts, nested at most ${most.depth} levels deep, and ${most.listed} values in its lists`,
    )
    .pipe(filterSchema)
    .optional()
    .openapi({ type: 'object' }),
  tags: tags.optional(),
  embedding: z
    .strictObject({
      model: model.nullable(),
      vector,
      unrelated: z.strictObject({ mean: z.number(), deviation: z.number().positive() }).optional(),
    })
    .optional(),
  passages: z.number().int().min(1).max(100).optional(),
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().nonnegative().default(0),
  sortBy: z.enum(['relevance', 'recency', 'accessCount', 'lastAccess']).optional(),
  sortOrder: z.enum(['asc', 'desc']).default('desc'),
  minScore: z.number().min(0).max(1).default(0),
  /** Returns nothing when the confidence of the best match is lower. Needs a text. */
  minConfidence: z.number().min(0).max(1).default(0),
  now,
})

const instant = z.number().openapi({ description: 'milliseconds since 1970' })

/** An entry as it is kept, whole. */
const keptEntry = z
  .object({
    namespace: z.string(),
    scope: z.enum(memoryScopes),
    key: z.string(),
    value: anything,
    text: z.string().openapi({ description: 'what it is found by' }),
    type: z.string().nullable(),
    tags: z.array(z.string()),
    createdAt: instant,
    updatedAt: instant,
    accessedAt: instant,
    accessCount: z.number().int(),
    ttl: z.number().nullable().openapi({ description: 'milliseconds from an access to the expiry' }),
    expiresAt: instant.nullable(),
    encrypted: z.boolean(),
    embedding: z
      .object({
        model: z.string(),
        vector: z.array(z.number()),
        units: z.array(z.array(z.number())).optional(),
      })
      .nullable(),
  })
  .openapi('Entry')

const passage = z
  .object({
    text: z.string(),
    neighbours: z.array(z.string()).optional(),
    score: z.number().optional(),
    confidence: z.number().optional(),
  })
  .openapi('Passage')

export const done = z.object({ success: z.literal(true) })
/** Not `nullable`: the API description would then say so of the entries of every call. */
const keptOrAbsent = z.union([keptEntry, z.null()])
export const gotten = z.object({ entry: keptOrAbsent })
export const gottenMany = z
  .object({ entries: z.array(keptOrAbsent) })
  .openapi({ description: 'one for each key, in their order' })
export const found = z.object({
  found: z.array(
    z.object({
      entry: keptEntry,
      score: z.number(),
      confidence: z.number().optional().openapi({ description: 'how likely the memory knows, 0 to 1' }),
      mode: z.enum(['lexical', 'semantic', 'hybrid', 'filter']),
      signals: z.record(z.string(), z.number()).openapi({ description: 'the share of each in the score' }),
      passage: passage.optional(),
      passages: z.array(passage).optional(),
    }),
  ),
})
export const removed = z.object({ removed: z.boolean() })
export const counted = z.object({ removed: z.number().int() })
export const archived = z.object({
  archived: z.number().int(),
  errors: z.array(z.object({ key: z.string(), message: z.string() })),
})
export const restored = z.object({
  restored: z.boolean().openapi({ description: 'false: it is not archived' }),
})
export const stats = z.object({ entries: z.number().int(), bytes: z.number().int() })
export const stamped = z.object({ stamp: z.string().nullable() })
