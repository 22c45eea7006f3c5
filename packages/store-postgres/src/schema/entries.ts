import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  doublePrecision,
  foreignKey,
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
    wordCount: integer('word_count').notNull(),
    /** Rows of `units` beyond it were left by an older version of the entry, and are not looked at. */
    unitCount: integer('unit_count').notNull().default(1),
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
    /** Of the vectors of its units, which all have one or none. */
    embeddingModel: text('embedding_model'),
    dimensions: integer('dimensions'),
  },
  (table) => [
    primaryKey({ columns: [table.place, table.id] }),
    index('entries_recency').on(table.place, table.updatedAt),
    index('entries_models')
      .on(table.place, table.dimensions, table.embeddingModel)
      .where(sql`${table.embeddingModel} is not null`),
    index('entries_spelling').using('gin', table.place, table.text.op('gin_trgm_ops')),
    index('entries_tags').using('gin', table.place, table.tags),
  ],
)

/**
 * What is found and ranked by itself: a turn, a section, a few paragraphs of an entry's text (core's `splitUnits`).
 * Most entries have one.
 */
export const units = pgTable(
  'units',
  {
    place: uuid('place').notNull(),
    entry: uuid('entry').notNull(),
    /** Position in the text, from 0. */
    unit: integer('unit').notNull(),
    words: wordsColumn('words').notNull(),
    wordCount: integer('word_count').notNull(),
    /** Who speaks, or its heading. */
    label: text('label').notNull(),
    embedding: vectorColumn('embedding'),
    /** Filled while another model takes over, then moved to `embedding` in one step. */
    nextEmbedding: vectorColumn('next_embedding'),
    nextEmbeddingModel: text('next_embedding_model'),
  },
  (table) => [
    primaryKey({ columns: [table.place, table.entry, table.unit] }),
    foreignKey({
      name: 'units_entry',
      columns: [table.place, table.entry],
      foreignColumns: [entries.place, entries.id],
    }).onDelete('cascade'),
    index('units_words').using('gin', table.place, table.words),
  ],
)

/** One row: what the entries of the whole database have in common. */
export const storeSettings = pgTable(
  'store_settings',
  {
    only: boolean('only').primaryKey().default(true),
    /** What splits and stems texts: a text search configuration of Postgres, or core when absent. */
    textConfiguration: text('text_configuration'),
    /** How core split the texts that are kept, see `recount-words.ts`. */
    wordsVersion: integer('words_version').notNull().default(0),
  },
  (table) => [check('store_settings_one_row', sql`${table.only}`)],
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
    units: bigint('units', { mode: 'number' }).notNull().default(0),
    words: bigint('words', { mode: 'number' }).notNull().default(0),
    /** What quotas count: besides the values also keys, texts, types, tags and vectors. */
    held: bigint('held', { mode: 'number' }).notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.place, table.backend] })],
)
