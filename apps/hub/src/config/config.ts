import { MemoryError, MemoryErrorCode, type MemoryScope } from '@recall/core'
import * as z from 'zod'

const megabyte = 1024 * 1024

// For a number that is out of bounds, zod names the bounds.
const number = z.number({
  error: ({ code, expected }) =>
    code === 'invalid_type' ? `must be a ${expected === 'int' ? 'whole number' : 'number'}` : undefined,
})
/** A number, or the text of one, as in a variable. `Number` would also read `null` and an empty list as 0. */
const orText = (bounds: z.ZodNumber) =>
  z.preprocess((given) => (typeof given === 'string' && /\S/.test(given) ? Number(given) : given), bounds)
/** The most that a timer takes, and Postgres as an integer: about 24 days in milliseconds. */
const most = 2 ** 31 - 1
const count = orText(number.int().positive().max(most))
const connectionCount = orText(number.int().positive().max(10_000))
/** Processes that count requests by themselves forget the counts by a timer. */
const windowSeconds = orText(
  number
    .int()
    .positive()
    .max(Math.floor(most / 1000)),
)
/** Bytes on a disk, which may be more than a Postgres integer holds. */
const bytes = orText(number.int().positive())
/** At most a century, because dates are limited. */
const days = orText(number.int().positive().max(36_500))
const similarity = orText(number.min(0).max(1))
const port = orText(number.int().min(0).max(65_535))
const flag = z.union([z.boolean(), z.stringbool()], 'must be true or false')

/** `z.url` reads a host and a port as an address whose scheme is the host. */
const addressSchema = z.url({
  protocol: /^https?$/,
  error: 'must be an address that begins with http:// or https://',
})

/** Whether an address is a place and nothing else. What is no address at all is told otherwise. */
function isPlace(text: string): boolean {
  if (/[?#]/.test(text)) return false
  const { username, password } = URL.canParse(text) ? new URL(text) : { username: '', password: '' }
  return username + password === ''
}

/** An address that everybody is shown, and to which callers add paths. */
const publicAddressSchema = addressSchema.refine(
  isPlace,
  'must have no user, password, query or fragment: everybody is shown it',
)

/** Whether the driver can read it; it decodes percent-encoding. */
function isReadable(url: string): boolean {
  try {
    const { username, password } = new URL(url)
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text
const originSchema = z
  .string()
  .refine(isOrigin, 'must be an origin, with nothing after the host and port: https://app.example.com')
/** A list, or a text with commas. */
const originsSchema = z.union([
  z.array(originSchema),
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(originSchema)),
])

/** At most this many requests in this many seconds. */
const windowSchema = z.strictObject({ requests: count, seconds: windowSeconds })
const windowsSchema = z
  .array(windowSchema)
  .min(1)
  // Counts are kept by the length of the window: a request would count twice.
  .refine(
    (windows) => new Set(windows.map(({ seconds }) => seconds)).size === windows.length,
    'must be windows of different lengths',
  )
const perMinute = (requests: number) => ({ requests, seconds: 60 })
const perDay = (requests: number) => ({ requests, seconds: 24 * 60 * 60 })

/** Every member has its own default, so leaving one setting out does not affect the others. */
const tierSchema = (limits: Record<'write' | 'search' | 'get', z.infer<typeof windowsSchema>>) =>
  z
    .strictObject({
      write: windowsSchema.default(limits.write),
      search: windowsSchema.default(limits.search),
      get: windowsSchema.default(limits.get),
    })
    .prefault({})

const tiersSchema = z.strictObject({
  unverified: tierSchema({
    write: [perMinute(1), perDay(2)],
    search: [perMinute(60)],
    get: [perMinute(300)],
  }),
  trusted: tierSchema({
    write: [perMinute(5), perDay(50)],
    search: [perMinute(120)],
    get: [perMinute(300)],
  }),
  core: tierSchema({
    write: [perMinute(10), perDay(200)],
    search: [perMinute(120)],
    get: [perMinute(300)],
  }),
})

const limitsSchema = z.strictObject({
  tiers: tiersSchema.prefault({}),
  /** Registrations from one address. */
  register: windowsSchema.default([{ requests: 5, seconds: 60 * 60 }]),
  /** Calls on an agent's private memory. */
  private: windowsSchema.default([perMinute(600)]),
  /** Requests over MCP. The calls that its tools make are also counted like any others. */
  mcp: windowsSchema.default([perMinute(600)]),
})

/** Whether the value is an object, so that its members can be compared even when other checks failed. */
const isObject = ({ value }: { value: unknown }): boolean => typeof value === 'object' && value !== null

/** Reported together with other problems, and only when both values are numbers: other types have their own error. */
const inOrder = <Name extends string>(lower: Name, upper: Name) =>
  z.refine<Partial<Record<Name, unknown>>>(
    ({ [lower]: low, [upper]: high }) => !(typeof low === 'number' && typeof high === 'number' && low > high),
    { path: [lower], error: `must not be greater than ${upper}`, when: isObject },
  )

const thresholdsSchema = z
  .strictObject({
    /** Shorter content is refused; content shorter than `shortContent` is accepted with a warning. */
    minContent: count.default(80),
    shortContent: count.default(200),
    maxContent: count.default(20_000),
    minTags: count.default(2),
    maxTags: count.default(6),
    /** Least similarity of a search result. */
    minSimilarity: similarity.default(0.55),
    /** From this similarity on, a memory is linked as a possible duplicate. */
    duplicate: similarity.default(0.92),
    /** From this similarity on, a memory counts as a duplicate. */
    autoDuplicate: similarity.default(0.97),
    /** From this similarity on, memories are linked as similar. */
    related: similarity.default(0.75),
    /** From this similarity on, low-signal memories count as saying the same thing. */
    crowd: similarity.default(0.7),
  })
  .check(
    inOrder('minContent', 'maxContent'),
    inOrder('minTags', 'maxTags'),
    inOrder('related', 'duplicate'),
    inOrder('duplicate', 'autoDuplicate'),
  )

const trustSchema = z.strictObject({
  /** How many of an agent's memories trusted agents must have retrieved before it becomes trusted itself. */
  usefulMemories: count.default(5),
  /** Distinct trusted agents who must have retrieved them. */
  retrievers: count.default(1),
  /** Days until the retrievals of a newly promoted agent count towards the promotion of others. */
  settledDays: days.default(30),
  /** How many agents one trusted agent can vouch for within 30 days. */
  vouches: count.default(3),
  /** Days without a heartbeat until the hub stops taking writes. */
  heartbeatDays: days.default(30),
})

/** Where vectors come from. `fake` matches words but not meaning: use it to try things out, never in production. */
const embeddingSchema = z.discriminatedUnion(
  'provider',
  [
    z.strictObject({ provider: z.literal('local') }),
    z.strictObject({
      provider: z.literal('http'),
      url: addressSchema,
      model: z.string().min(1),
      dimensions: count,
      apiKey: z.string().optional(),
    }),
    z.strictObject({ provider: z.literal('fake') }),
  ],
  {
    error:
      'name the provider: local, http (with url, model, dimensions and, if it wants one, apiKey) or fake',
  },
)

const privateBytesSchema = z.strictObject({
  working: bytes.default(10 * megabyte),
  'short-term': bytes.default(100 * megabyte),
  'long-term': bytes.default(1024 * megabyte),
  episodic: bytes.default(10 * 1024 * megabyte),
} satisfies Record<MemoryScope, unknown>)

/** A condition that must hold in production, reported together with other problems: members may be of any type. */
const inProduction = (
  path: keyof HubConfig,
  error: string,
  holds: (settings: Partial<Omit<HubConfig, 'embedding'>> & { embedding?: { provider?: string } }) => boolean,
) =>
  z.refine<Parameters<typeof holds>[0]>((settings) => settings.production !== true || holds(settings), {
    path: [path],
    error,
    when: isObject,
  })

const configSchema = z
  .strictObject({
    host: z.string().default('127.0.0.1'),
    port: port.default(8787),
    /** How agents reach the hub; shown in the skill and the API description. Default: from host and port. */
    publicUrl: publicAddressSchema.optional(),
    /**
     * Where people report memories and vulnerabilities, and contest decisions. Shown in the skill and `security.txt`.
     */
    contact: z.url({ protocol: /^(?:https|mailto)$/ }).optional(),
    /** Origins of web pages that may call the hub from a browser, such as `https://app.example.com`. */
    allowedOrigins: originsSchema.default([]),
    production: flag.default(false),
    /** Bearer token for `/metrics`. Without one, only a hub that listens on loopback shows its metrics. */
    metricsToken: z.string().min(16).optional(),
    /** A text search configuration of Postgres for private memories, such as `german`; default: English. */
    textConfiguration: z.string().min(1).optional(),
    /** A Postgres server. Without it the database is embedded, in `dataFolder`. */
    postgresUrl: z
      .string()
      .regex(/^postgres(?:ql)?:\/\//, 'must begin with postgres:// or postgresql://')
      .optional(),
    dataFolder: z.string().default('.recall-hub'),
    redisUrl: z
      .string()
      .regex(/^rediss?:\/\//, { error: 'must begin with redis:// or rediss://', abort: true })
      .refine(
        isReadable,
        'must look like redis://:password@host:6379, with characters such as # / @ % in the password percent-encoded',
      )
      .optional(),
    /** Most connections to Postgres. The driver makes something for each of them, open or not. */
    connections: connectionCount.default(10),
    /** Longest that a request waits for the database, in milliseconds. */
    databaseTimeoutMs: count.default(5000),
    /** Longest that a request waits for the embedding provider, in milliseconds. */
    embedTimeoutMs: count.default(5000),
    /** How long a hub that is told to stop still takes requests while `/readyz` says so, in milliseconds. */
    drainDelayMs: orText(number.int().min(0).max(most)).default(0),
    /** Keep memories at once and make their vectors afterwards, so that a slow provider does not hold up writers. */
    embedAsync: flag.default(false),
    /** Largest request body, in bytes. */
    maxBody: count.default(8 * megabyte),
    /** Largest private memory of one agent in each scope of a namespace, in bytes. */
    privateBytes: privateBytesSchema.prefault({}),
    /** Largest private memory of one agent in all scopes of all its namespaces together, archives included, in bytes. */
    privateTotalBytes: bytes.default(10 * 1024 * megabyte),
    /** Most namespaces in which one agent keeps private memories. Each namespace has its own quotas. */
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
  .check(
    inProduction(
      'embedding',
      'the fake ignores meaning: use local or http in production',
      ({ embedding }) => embedding?.provider !== 'fake',
    ),
    inProduction('postgresUrl', 'production needs a Postgres server', ({ postgresUrl }) => !!postgresUrl),
    inProduction('publicUrl', 'production needs the https address that agents use', ({ publicUrl }) =>
      String(publicUrl).startsWith('https:'),
    ),
  )

export type HubConfig = z.infer<typeof configSchema>

/** The settings as an operator writes them: every one has a default. */
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
