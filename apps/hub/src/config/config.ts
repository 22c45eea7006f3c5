import { MemoryError, MemoryErrorCode, memoryScopes } from '@recall/core'
import * as z from 'zod'

const megabyte = 1024 * 1024

const count = z.coerce.number().int().positive()
const similarity = z.coerce.number().min(0).max(1)
const flag = z.union([z.boolean(), z.stringbool()])

/** So many requests in so many seconds. */
const windowSchema = z.strictObject({ requests: count, seconds: count })
const windowsSchema = z.array(windowSchema).min(1)
const perMinute = (requests: number) => ({ requests, seconds: 60 })
const perDay = (requests: number) => ({ requests, seconds: 24 * 60 * 60 })

const tierSchema = z.strictObject({ write: windowsSchema, search: windowsSchema, get: windowsSchema })

const tiers = {
  unverified: {
    write: [perMinute(1), perDay(2)],
    search: [perMinute(30)],
    get: [perMinute(60)],
  },
  trusted: {
    write: [perMinute(5), perDay(50)],
    search: [perMinute(120)],
    get: [perMinute(300)],
  },
  core: {
    write: [perMinute(10), perDay(200)],
    search: [perMinute(120)],
    get: [perMinute(300)],
  },
}

const limitsSchema = z.strictObject({
  tiers: z.strictObject({ unverified: tierSchema, trusted: tierSchema, core: tierSchema }).default(tiers),
  /** Registrations from one address. */
  register: windowsSchema.default([{ requests: 5, seconds: 60 * 60 }]),
  /** Calls on an agent's private memory. */
  private: windowsSchema.default([perMinute(600)]),
})

const thresholdsSchema = z.strictObject({
  /** Below, content is refused; below `shortContent`, accepted with a warning. */
  minContent: count.default(80),
  shortContent: count.default(200),
  maxContent: count.default(20_000),
  minTags: count.default(2),
  maxTags: count.default(6),
  /** Least similarity of a search result. */
  minSimilarity: similarity.default(0.55),
  /** From here on a memory is linked as a candidate for a duplicate. */
  duplicate: similarity.default(0.92),
  /** From here on it is taken for one. */
  autoDuplicate: similarity.default(0.97),
  /** From here on memories are linked as similar. */
  related: similarity.default(0.75),
  /** From here on memories that count as low signal are taken to say the same. */
  crowd: similarity.default(0.7),
})

const trustSchema = z.strictObject({
  /** Memories that trusted agents retrieved, for an agent to become trusted itself. */
  usefulMemories: count.default(5),
  /** Distinct trusted agents who must have retrieved them. */
  retrievers: count.default(1),
  /** Days after which the retrievals of an agent count that became trusted by those of others. */
  settledDays: count.default(30),
  /** Agents that one trusted agent can speak for within 30 days. */
  vouches: count.default(3),
  /** Days without a heartbeat until the hub stops taking writes. */
  heartbeatDays: count.default(30),
})

/** Where vectors come from. The fake knows words and no meaning: for trying things out, never in production. */
const embeddingSchema = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('local') }),
  z.strictObject({
    provider: z.literal('http'),
    url: z.url(),
    model: z.string().min(1),
    dimensions: count,
    apiKey: z.string().optional(),
  }),
  z.strictObject({ provider: z.literal('fake') }),
])

const scopeBytes = z.strictObject(
  Object.fromEntries(memoryScopes.map((scope) => [scope, count])) as Record<
    (typeof memoryScopes)[number],
    typeof count
  >,
)

const configSchema = z
  .strictObject({
    host: z.string().default('127.0.0.1'),
    port: z.coerce.number().int().min(0).max(65_535).default(8787),
    /** How agents reach the hub; shown in the skill and the API description. Default: from host and port. */
    publicUrl: z.url().optional(),
    /** Where the operator hears of memories, contests and holes: shown in the skill and in `security.txt`. */
    contact: z.url({ protocol: /^(?:https|mailto)$/ }).optional(),
    production: flag.default(false),
    /** What may read `/metrics` from elsewhere, as a bearer token. Without one it is shown on loopback only. */
    metricsToken: z.string().min(16).optional(),
    /** A text search configuration of Postgres for private memories, such as `german`; default: English. */
    textConfiguration: z.string().min(1).optional(),
    /** A Postgres server. Without it the database is embedded, in `dataFolder`. */
    postgresUrl: z.string().startsWith('postgres').optional(),
    dataFolder: z.string().default('.recall-hub'),
    redisUrl: z.string().startsWith('redis').optional(),
    connections: count.default(10),
    /** Longest that a request waits for the database, in milliseconds. */
    databaseTimeoutMs: count.default(5000),
    /** Longest that a request waits for the embedding provider, in milliseconds. */
    embedTimeoutMs: count.default(5000),
    /** Keep memories at once and make their vectors afterwards, so that a slow provider holds up no writer. */
    embedAsync: flag.default(false),
    /** Largest request body, in bytes. */
    maxBody: count.default(8 * megabyte),
    /** Largest private memory of one agent in each scope of a namespace, in bytes. */
    privateBytes: scopeBytes.default({
      working: 10 * megabyte,
      'short-term': 100 * megabyte,
      'long-term': 1024 * megabyte,
      episodic: 1024 * megabyte,
    }),
    /** Most namespaces in which one agent keeps private memories: each has quotas of its own. */
    privateNamespaces: count.default(1000),
    /** What to do with secrets in private memories: replace them, or keep them. */
    privateSecrets: z.enum(['redact', 'allow']).default('redact'),
    /** Trust the address that a proxy in front of the hub names in `X-Forwarded-For`. */
    behindProxy: flag.default(false),
    embedding: embeddingSchema.default({ provider: 'local' }),
    limits: limitsSchema.prefault({}),
    thresholds: thresholdsSchema.prefault({}),
    trust: trustSchema.prefault({}),
  })
  .superRefine(({ production, embedding, postgresUrl, publicUrl }, context) => {
    if (!production) return
    const missing = (path: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [path], message })
    }
    if (embedding.provider === 'fake')
      missing('embedding', 'the fake knows no meaning: use local or http in production')
    if (!postgresUrl) missing('postgresUrl', 'production needs a Postgres server')
    if (!publicUrl?.startsWith('https:'))
      missing('publicUrl', 'production needs the https address that agents use')
  })

export type HubConfig = z.infer<typeof configSchema>

/** What may be given: everything has a default. */
export type HubSettings = z.input<typeof configSchema>

/** @throws MemoryError INVALID_INPUT with every problem and its path */
export function parseConfig(settings: unknown): HubConfig {
  const result = configSchema.safeParse(settings)
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const text = issues.map(({ path, message }) => `  ${path || 'settings'}: ${message}`).join('\n')
  throw new MemoryError(`the settings are wrong:\n${text}`, MemoryErrorCode.INVALID_INPUT, {
    details: { issues },
  })
}
