import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  // biome-ignore lint/suspicious/noDeprecatedImports: only its other signature is deprecated
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { vectorColumn, wordsColumn } from './columns.ts'

/**
 * What a `MemoryManager` keeps. Rows are found by digests of namespace, scope and key, which fit into an index
 * however long those are; the place leads every index, so that the table can be distributed by it.
 *
 * Times are milliseconds since the epoch, as the contract has them. Nothing that an access changes is indexed:
 * such updates then touch no index at all.
 */
export const entries = pgTable(
  'entries',
  {
    place: uuid('place').notNull(),
    id: uuid('id').notNull(),
    tenant: text('tenant').notNull().default(''),
    namespace: text('namespace').notNull(),
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    /** JSON text: Postgres' own JSON would refuse some strings and forget the order of members. */
    value: text('value').notNull(),
    /** What filters look at: members of the value over the metadata, see `filter-fields.ts`. */
    fields: jsonb('fields').notNull(),
    text: text('text').notNull(),
    words: wordsColumn('words').notNull(),
    wordCount: integer('word_count').notNull(),
    type: text('type'),
    tags: text('tags').array().notNull(),
    createdAt: doublePrecision('created_at').notNull(),
    updatedAt: doublePrecision('updated_at').notNull(),
    accessedAt: doublePrecision('accessed_at').notNull(),
    accessCount: bigint('access_count', { mode: 'number' }).notNull(),
    ttl: doublePrecision('ttl'),
    expiresAt: doublePrecision('expires_at'),
    encrypted: boolean('encrypted').notNull(),
    /** Another number after every write, and the same after an access. */
    version: bigserial('version', { mode: 'number' }).notNull(),
    embedding: vectorColumn('embedding'),
    embeddingModel: text('embedding_model'),
    dimensions: integer('dimensions'),
    /** Filled while another model takes over, then moved to `embedding` in one step. */
    nextEmbedding: vectorColumn('next_embedding'),
    nextEmbeddingModel: text('next_embedding_model'),
  },
  (table) => [
    primaryKey({ columns: [table.place, table.id] }),
    index('entries_recency').on(table.place, table.updatedAt),
    index('entries_models')
      .on(table.place, table.dimensions, table.embeddingModel)
      .where(sql`${table.embedding} is not null`),
    index('entries_words').using('gin', table.place, table.words),
    index('entries_tags').using('gin', table.place, table.tags),
  ],
)

/**
 * How much a place holds, as sums over the backends that wrote to it: each adds to a row of its own, so that no
 * writer waits for another one. Triggers on `entries` keep them.
 */
export const placeSizes = pgTable(
  'place_sizes',
  {
    place: uuid('place').notNull(),
    /** Process id of the backend; 0 for what backends left that are gone. */
    backend: integer('backend').notNull(),
    entries: bigint('entries', { mode: 'number' }).notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.place, table.backend] })],
)
