import { z } from '@hono/zod-openapi'
import { memoryScopes, redactText } from '@recall/core'
import type { HubConfig } from '../config/config.ts'
import { invisible, visibleLength } from '../visible-text.ts'
import { listOf } from './list-of.ts'

const printable = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

/** For a missing member, and for one of another type. */
const aText = 'must be a string'

/** Whether a text has at most `longest` code points, which zod counts too. */
const fits = (text: string, longest: number): boolean => [...text].length <= longest

const line = (longest: number) =>
  z
    .string(aText)
    .trim()
    .min(1, 'must not be empty')
    .max(longest, tooLong(longest))
    .refine(printable, 'must not hold control characters')

const tooLong = (longest: number): string => `must have at most ${longest} characters`
const longestName = 100
const longestTag = 64
const longestUrl = 2048

export const nameSchema = line(longestName)
  .transform((name) => name.normalize('NFKC'))
  // NFKC may turn one character into as many as eighteen.
  .refine((name) => fits(name, longestName), tooLong(longestName))
  .refine((name) => name.search(invisible) < 0, 'must not hold invisible characters')
  .refine((name) => redactText(name).text === name, 'must not hold a secret')
  .openapi({ example: 'deploy-bot' })

/** NFKC, so that a tag stays the same however it was typed. It keeps its case, which helps to recognise secrets. */
const tagSchema = line(longestTag)
  .transform((tag) => tag.replace(invisible, '').normalize('NFKC').trim())
  .refine((tag) => fits(tag.toLowerCase(), longestTag), tooLong(longestTag))
  .refine((tag) => tag !== '', 'must not be empty')

/** A tag as it is stored: two secrets of one kind become the same tag. */
const keptTag = (tag: string): string => redactText(tag).text.toLowerCase()

/** A URL parser accepts characters that steer a terminal, or that make an address look like another. */
const isVisible = (url: string): boolean => printable(url) && url.search(invisible) < 0

const hasCredentials = (url: string): boolean => {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

const tooShort = (least: number): string =>
  `must have at least ${least} visible characters, not counting secrets and with a run of blanks counted as one: say what was learned, where it holds and how it was seen`

/** The schema of a new memory, under the hub's thresholds. */
export const newMemorySchema = ({ thresholds }: HubConfig) =>
  z
    .strictObject({
      content: z
        .string(aText)
        .trim()
        .min(thresholds.minContent, { error: tooShort(thresholds.minContent), abort: true })
        // Aborts, because looking for secrets in megabytes takes seconds.
        .max(thresholds.maxContent, {
          error: `must have at most ${thresholds.maxContent} characters: save one lesson at a time`,
          abort: true,
        })
        .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'must be plain text')
        .refine(
          (text) => visibleLength(redactText(text).text) >= thresholds.minContent,
          tooShort(thresholds.minContent),
        ),
      tags: listOf(tagSchema, 10 * thresholds.maxTags, {
        notOne: 'must be a list of strings',
        tooMany: `must be at most ${thresholds.maxTags}`,
      })
        .transform((tags) => [...new Map(tags.map((tag) => [keptTag(tag), tag])).values()])
        .pipe(
          z
            .array(z.string())
            .min(thresholds.minTags, `must be at least ${thresholds.minTags}, without repetitions`)
            .max(thresholds.maxTags, `must be at most ${thresholds.maxTags}`),
        )
        .openapi({ minItems: thresholds.minTags, maxItems: thresholds.maxTags }),
      source_url: z
        // Aborts, because the checks after it need an address.
        .url({
          protocol: /^https?$/,
          abort: true,
          error: 'must be an address that begins with http:// or https://',
        })
        .max(longestUrl, tooLong(longestUrl))
        .refine((url) => !hasCredentials(url), 'must not hold a user name or a password')
        .refine(isVisible, 'must not hold control or invisible characters')
        // In an answer, null means that there is none.
        .nullish()
        .transform((url) => url ?? undefined),
    })
    .openapi('NewMemory')

const id = z.uuid()
const shortId = z.string().openapi({ example: 'RCL-8F3K2A9Q' })
const relation = z.string().openapi({ example: 'duplicate_candidate' })
const author = z.object({ name: z.string() })
const success = z.literal(true)

export const registeredSchema = z
  .object({ agent: z.object({ id, name: z.string() }), api_key: z.string() })
  .openapi('Registered')

export const savedSchema = z
  .object({
    success,
    id,
    short_id: shortId,
    /** `queued`: stored, and findable as soon as its vector is made. */
    status: z.enum(['saved', 'queued']),
    similar: z.array(z.object({ id, short_id: shortId, similarity: z.number(), relation })),
    warnings: z.array(z.string()).optional(),
  })
  .openapi('Saved')

const sharedMemory = {
  id,
  short_id: shortId,
  content: z.string(),
  tags: z.array(z.string()),
  source_url: z.string().nullable(),
  author,
  created_at: z.string(),
}

export const foundSchema = z
  .object({
    success,
    query: z.string(),
    results: z.array(
      z.object({
        ...sharedMemory,
        similarity: z.number(),
        retrieval_count: z.number().int(),
        signals: z
          .object({ similarity: z.number(), retrievals: z.number(), source: z.number() })
          .optional()
          .openapi({ description: 'with `explain=true`: what each signal adds to the rank' }),
      }),
    ),
  })
  .openapi('Found')

export const memorySchema = z
  .object({
    success,
    memory: z.object({
      ...sharedMemory,
      related: z.array(z.object({ id, short_id: shortId, relation, similarity: z.number().nullable() })),
    }),
  })
  .openapi('Memory')

export const citedSchema = z
  .object({ success, short_id: shortId, citation: z.string(), citations: z.number().int() })
  .openapi('Cited')

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    scope: z.enum(memoryScopes).optional(),
    key: z.string().optional(),
    errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
    'violated-policies': z.array(z.string()).optional(),
  })
  .openapi('Problem')

export const memoryIdSchema = z.object({
  id: z
    .string()
    // Without a flag, which the pattern in the OpenAPI document cannot have.
    .regex(
      /^(?:[0-9A-Fa-f-]{36}|[Rr][Cc][Ll]-[0-9A-Za-z]{8})$/,
      'must be a UUID or a short id such as RCL-8F3K2A9Q',
    ),
})

const fromOneTo50 = 'must be a whole number from 1 to 50'

export const searchQuerySchema = z.object({
  q: z
    .string(aText)
    .trim()
    .min(1, { error: 'must not be empty', abort: true })
    .max(500, 'must have at most 500 characters')
    .refine((text) => visibleLength(text) > 0, 'must not be empty')
    .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'must be plain text'),
  limit: z.coerce
    .number(fromOneTo50)
    .int(fromOneTo50)
    .min(1, fromOneTo50)
    .max(50, fromOneTo50)
    .default(10)
    .openapi({ type: 'integer' }),
  explain: z
    .enum(['true', 'false'])
    .default('false')
    .openapi({ description: 'whether each result explains its rank, in `signals`' }),
})
