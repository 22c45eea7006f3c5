import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  pgTable,
  // biome-ignore lint/suspicious/noDeprecatedImports: only its other signature is deprecated
  primaryKey,
  real,
  smallint,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { vectorColumn } from './columns.ts'

const instant = (name: string) => timestamp(name, { withTimezone: true })

/** How far an agent is trusted. */
export const trustLevels = { unverified: 0, trusted: 1, core: 2 } as const

export const agents = pgTable(
  'agents',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    /** A label; the key is the identity. */
    name: text('name').notNull(),
    /** SHA-256 of the key, in hex. */
    apiKeyHash: text('api_key_hash').notNull(),
    /** Hash of a replacement key, until that key is first used. */
    nextApiKeyHash: text('next_api_key_hash'),
    createdAt: instant('created_at').notNull().defaultNow(),
    disabledAt: instant('disabled_at'),
    /** 0 unverified, 1 trusted, 2 core. */
    /** See `trustLevels`. */
    trustLevel: smallint('trust_level').notNull().default(trustLevels.unverified),
    /** When other agents' retrievals made it trusted; absent if an administrator set its trust. */
    promotedAt: instant('promoted_at'),
    /** Whether an administrator made it unverified: then retrievals do not promote it. */
    heldBack: boolean('held_back').notNull().default(false),
    /** How often the agent or one of its memories was put in quarantine. */
    quarantines: integer('quarantines').notNull().default(0),
    notes: text('notes'),
  },
  (table) => [
    unique('agents_api_key_hash').on(table.apiKeyHash),
    unique('agents_next_api_key_hash').on(table.nextApiKeyHash),
    index('agents_name').on(table.name),
    check('agents_trust_level', sql`${table.trustLevel} between 0 and 2`),
  ],
)

/** How a memory counts: low signal ranks below everything good, and in quarantine only its author finds it. */
export const memoryQuality = { good: 0, lowSignal: -1, quarantined: -2 } as const

export const memories = pgTable(
  'memories',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    shortId: text('short_id').notNull(),
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id),
    /** Empty in a tombstone. */
    content: text('content').notNull(),
    tags: text('tags').array().notNull().default(sql`'{}'`),
    sourceUrl: text('source_url'),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Absent in a tombstone, and while it waits in the queue. */
    embedding: vectorColumn('embedding'),
    embeddingModel: text('embedding_model').notNull(),
    nextEmbedding: vectorColumn('next_embedding'),
    nextEmbeddingModel: text('next_embedding_model'),
    /** While it waits for its vector: when the next attempt is due, and how many were made. */
    embedAfter: instant('embed_after'),
    embedAttempts: smallint('embed_attempts').notNull().default(0),
    /** See `memoryQuality`. */
    quality: smallint('quality').notNull().default(memoryQuality.good),
    /** Whether several low-signal memories by other agents said nearly the same before: then it is not a discovery. */
    crowded: boolean('crowded').notNull().default(false),
    duplicateOf: uuid('duplicate_of').references((): AnyPgColumn => memories.id),
    /** How many trusted agents other than its author it was returned to: each counts once. */
    retrievalCount: integer('retrieval_count').notNull().default(0),
    deletedAt: instant('deleted_at'),
    /**
     * For a while in the tombstone of a memory that was in quarantine: a digest of its words, which its author may
     * repeat.
     */
    wordsDigest: text('words_digest'),
  },
  (table) => [
    unique('memories_short_id').on(table.shortId),
    index('memories_tags').using('gin', table.tags),
    index('memories_created_at').on(table.createdAt),
    index('memories_agent_id').on(table.agentId),
    index('memories_low_of_agents').on(table.agentId).where(sql`${table.quality} < 0`),
    index('memories_quality').on(table.quality),
    index('memories_discoveries')
      .on(table.createdAt)
      .where(sql`${table.quality} = -1 and not ${table.crowded}`),
    index('memories_unembedded')
      .on(table.createdAt)
      .where(sql`${table.embedding} is null and ${table.deletedAt} is null`),
    // A deletion searches for the copies of what it deletes.
    index('memories_duplicate_of').on(table.duplicateOf).where(sql`${table.duplicateOf} is not null`),
    index('memories_words_digest')
      .on(table.agentId, table.wordsDigest)
      .where(sql`${table.wordsDigest} is not null`),
    check('memories_quality_range', sql`${table.quality} between -2 and 0`),
  ],
)

export const memoryLinks = pgTable(
  'memory_links',
  {
    memoryId: uuid('memory_id')
      .notNull()
      .references(() => memories.id, { onDelete: 'cascade' }),
    relatedId: uuid('related_id')
      .notNull()
      .references(() => memories.id, { onDelete: 'cascade' }),
    /** `similar`, `extends` or `duplicate_candidate`. */
    relation: text('relation').notNull(),
    similarity: real('similarity'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.memoryId, table.relatedId, table.relation] }),
    index('memory_links_memory_id').on(table.memoryId),
    index('memory_links_related_id').on(table.relatedId),
  ],
)

export const retrievalEvents = pgTable(
  'retrieval_events',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    /** The agent that searched. */
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id),
    memoryId: uuid('memory_id')
      .notNull()
      .references(() => memories.id, { onDelete: 'cascade' }),
    /** Empty once it has been kept long enough. */
    query: text('query').notNull(),
    similarity: real('similarity').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Whether it raised the memory's count: only the first retrieval by each trusted agent except the author does. */
    counted: boolean('counted').notNull().default(false),
  },
  (table) => [
    index('retrieval_events_memory_id').on(table.memoryId, table.agentId),
    // An agent counts once for a memory, however many of its searches run at once.
    uniqueIndex('retrieval_events_counted').on(table.memoryId, table.agentId).where(sql`${table.counted}`),
    index('retrieval_events_agent_id').on(table.agentId),
    index('retrieval_events_created_at').on(table.createdAt),
    // Maintenance searches for questions that were kept long enough.
    index('retrieval_events_asked').on(table.createdAt).where(sql`${table.query} <> ''`),
  ],
)

export const citations = pgTable(
  'citations',
  {
    memoryId: uuid('memory_id')
      .notNull()
      .references(() => memories.id, { onDelete: 'cascade' }),
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.memoryId, table.agentId] }),
    index('citations_agent_id').on(table.agentId),
  ],
)

/** Agents whose retrievals made another agent trusted, so that each can be limited to a few. */
export const vouches = pgTable(
  'vouches',
  {
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id),
    /** The trusted agent that had retrieved its memories. */
    voucherId: uuid('voucher_id')
      .notNull()
      .references(() => agents.id),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.voucherId] }),
    index('vouches_voucher_id').on(table.voucherId, table.createdAt),
  ],
)

/** The namespaces in which agents keep private memories; their number is limited for each agent. */
export const privateNamespaces = pgTable(
  'private_namespaces',
  {
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id),
    namespace: text('namespace').notNull(),
  },
  (table) => [
    // A digest, because a name may be longer than an index entry allows.
    uniqueIndex('private_namespaces_name').on(table.agentId, sql`md5(${table.namespace})`),
  ],
)

/** Counters of requests in windows of time, used when there is no Redis. */
export const rateLimits = pgTable('rate_limits', {
  key: text('key').primaryKey(),
  points: integer('points').notNull().default(0),
  expire: instant('expire'),
})

/** Settings of the whole hub, in one row. */
export const systemConfig = pgTable(
  'system_config',
  {
    only: boolean('only').primaryKey().default(true),
    globalWriteEnabled: boolean('global_write_enabled').notNull().default(true),
    lastHeartbeatAt: instant('last_heartbeat_at').notNull().defaultNow(),
    /** The model of all memories' vectors; absent until a hub has checked them. Changes together with the vectors. */
    embeddingModel: text('embedding_model'),
  },
  (table) => [check('system_config_one_row', sql`${table.only}`)],
)

/** Answers to repeat when a request arrives again with its `Idempotency-Key`. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    agentId: uuid('agent_id')
      .notNull()
      .references(() => agents.id),
    route: text('route').notNull(),
    /** SHA-256 of the key, in hex. */
    key: text('key').notNull(),
    /** SHA-256 of the body, in hex. */
    fingerprint: text('fingerprint').notNull(),
    /** Absent while the first request is under way. */
    status: smallint('status'),
    body: text('body'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.route, table.key] }),
    index('idempotency_keys_created_at').on(table.createdAt),
  ],
)
