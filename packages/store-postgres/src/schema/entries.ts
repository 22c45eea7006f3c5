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
 * The entries of a `MemoryManager`. Rows are found by digests of namespace, scope and key, which fit into an index
 * however long these are. `place` leads every index, so that the table can be distributed by it.
 *
 * Times are milliseconds since the epoch, as in the contract. No index covers a column that an access changes, so an
 * access updates no index.
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
    /** JSON text: `jsonb` would refuse some strings and forget the order of members. */
    value: text('value').notNull(),
    /** The object that filters look into: members of the value over metadata, see `filter-fields.ts`. */
    fields: jsonb('fields').notNull(),
    text: text('text').notNull(),
    wordCount: integer('word_count').notNull(),
    /** Rows of `units` beyond it were left by an earlier version of the entry; they only make a word look less rare. */
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
    /** A new number after every write, unchanged by an access. */
    version: bigserial('version', { mode: 'number' }).notNull(),
    /** The model of the units' vectors; either all units have a vector or none. */
    embeddingModel: text('embedding_model'),
    dimensions: integer('dimensions'),
  },
  (table) => [
    primaryKey({ columns: [table.place, table.id] }),
    index('entries_recency').on(table.place, table.updatedAt),
    index('entries_models')
      .on(table.place, table.dimensions, table.embeddingModel)
      .where(sql`${table.embeddingModel} is not null`),
    index('entries_tags').using('gin', table.place, table.tags),
  ],
)

/**
 * The parts of an entry that are found and ranked separately: a turn, a section, or a few paragraphs of its text
 * (core's `splitUnits`). Most entries have one.
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
    /** How many units its turn was cut into; counts in conversations only. */
    parts: integer('parts').notNull().default(1),
    /** The speaker or the heading. */
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

/** Settings of the whole database, in one row. */
export const storeSettings = pgTable(
  'store_settings',
  {
    only: boolean('only').primaryKey().default(true),
    /**
     * The text search configuration that splits and stems texts; '' for core's own splitting, absent while nobody has
     * decided.
     */
    textConfiguration: text('text_configuration'),
  },
  (table) => [check('store_settings_one_row', sql`${table.only}`)],
)

/**
 * The size of a place, as a sum over the backends that wrote to it: each updates its own row, so that no writer waits
 * for another. Triggers on `entries` maintain it.
 */
export const placeSizes = pgTable(
  'place_sizes',
  {
    place: uuid('place').notNull(),
    /** Process id of the backend; 0 for the merged counts of backends that have ended. */
    backend: integer('backend').notNull(),
    entries: bigint('entries', { mode: 'number' }).notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    units: bigint('units', { mode: 'number' }).notNull().default(0),
    /** Units of the entries that have words: a number or an empty text does not count as a text of length 0. */
    worded: bigint('worded', { mode: 'number' }).notNull().default(0),
    words: bigint('words', { mode: 'number' }).notNull().default(0),
    /** Bytes that quotas count: keys, values, texts, types, tags and vectors. */
    held: bigint('held', { mode: 'number' }).notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.place, table.backend] })],
)
