import { conversationType, embedTexts, embedWhole } from '@recall/core'
import { embeddedTexts } from '@recall/core/ranking'
import { type SQL, sql } from 'drizzle-orm'

export interface RowKey {
  /** The place of an entry; `null` for a memory. */
  place: string | null
  id: string
}

/** A row with vectors of another model. */
export interface OutdatedRow extends RowKey {
  /** The name that people know it by. */
  name: string
  text: string
  /** The type of an entry, as JSON; `null` for a memory. */
  type: string | null
  /** Digest of the text: a vector is dropped if the text changed meanwhile. */
  digest: string
  /** Another model that has a vector in `next_embedding`; `null` if none has. */
  beside: string | null
}

export interface RowVectors extends RowKey {
  digest: string
  unit: number
  /** As JSON. */
  vector: string
}

/** The statements that compute the vectors of a table again and exchange them. */
export interface VectorTable {
  name: SQL
  text: SQL
  /** Whether a row has vectors of another model than this one. */
  outdated(model: string): SQL
  /** Rows after `after`, by key, without a vector of the model in `next_embedding`. */
  next(model: string, limit: number, after: RowKey | null): SQL
  /** Removes vectors of other models from `next_embedding`. */
  dropOthers(model: string): SQL
  /** The texts of a row that are embedded: one for each of its units. */
  textsOf(row: OutdatedRow): string[]
  /** Makes these vectors in the same way as when the row was written. */
  embed: typeof embedTexts
  /** Stores new vectors in `next_embedding`, but never over one of another model. */
  keepBeside(model: string, made: readonly RowVectors[]): SQL
  /** The tables to lock against writes during the exchange. */
  locked: SQL
  missing(model: string): SQL
  exchange(model: string): SQL[]
}

const outdatedEntry = (model: string): SQL =>
  sql`entries.embedding_model is not null and entries.embedding_model <> ${model}::text`

const outdatedMemory = (model: string): SQL =>
  sql`embedding is not null and embedding_model <> ${model}::text`

const made = (rows: readonly RowVectors[]): SQL =>
  sql`jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
    as made (place uuid, id uuid, digest text, unit int, vector text)`

/** Condition on entries: a unit lacks a vector of the model. */
const entriesMissing = (model: string): SQL => sql`
  ${outdatedEntry(model)} and exists (
    select from units where units.place = entries.place and units.entry = entries.id
      and units.unit < entries.unit_count and units.next_embedding_model is distinct from ${model}::text
  )`

export const vectorTables: Record<'entries' | 'memories', VectorTable> = {
  entries: {
    name: sql`entries`,
    text: sql`text`,
    outdated: outdatedEntry,
    next: (model, limit, after) => sql`
      select place::text as place, id::text as id, concat_ws('/', namespace, scope, key) as name, text, type, md5(text) as digest, (
        select min(next_embedding_model) from units
        where units.place = entries.place and units.entry = entries.id and next_embedding_model <> ${model}::text
      ) as beside
      from entries
      where ${entriesMissing(model)} and ${after ? sql`(place, id) > (${after.place}::uuid, ${after.id}::uuid)` : sql`true`}
      order by entries.place, entries.id limit ${limit}`,
    dropOthers: (model) => sql`
      update units set next_embedding = null, next_embedding_model = null
      where next_embedding_model <> ${model}::text`,
    textsOf: ({ text, type }) => {
      const texts = embeddedTexts(text, type !== null && JSON.parse(type) === conversationType)
      // An entry that was written meanwhile without a text has a unit, too.
      return texts.length === 0 ? [''] : texts
    },
    embed: embedTexts,
    keepBeside: (model, rows) => sql`
      update units set next_embedding = vector::vector, next_embedding_model = ${model}
      from ${made(rows)} join entries on entries.place = made.place and entries.id = made.id
      where units.place = made.place and units.entry = made.id and units.unit = made.unit
        and md5(entries.text) = digest and coalesce(next_embedding_model, ${model}) = ${model}`,
    locked: sql`entries, units`,
    missing: (model) => sql`select from entries where ${entriesMissing(model)}`,
    exchange: (model) => [
      sql`
        update units set embedding = next_embedding, next_embedding = null, next_embedding_model = null
        from entries where entries.place = units.place and entries.id = units.entry and ${outdatedEntry(model)}`,
      sql`
        update entries set embedding_model = ${model}, dimensions = (
          select vector_dims(embedding) from units
          where units.place = entries.place and units.entry = entries.id and unit = 0
        ) where ${outdatedEntry(model)}`,
    ],
  },
  memories: {
    name: sql`memories`,
    text: sql`content`,
    outdated: outdatedMemory,
    next: (model, limit, after) => sql`
      select null as place, id::text as id, short_id as name, content as text, null as type, md5(content) as digest,
        next_embedding_model as beside
      from memories
      where ${outdatedMemory(model)} and next_embedding_model is distinct from ${model}::text
        and ${after ? sql`id > ${after.id}::uuid` : sql`true`}
      order by memories.id limit ${limit}`,
    dropOthers: (model) => sql`
      update memories set next_embedding = null, next_embedding_model = null
      where next_embedding_model <> ${model}::text`,
    textsOf: ({ text }) => [text],
    embed: embedWhole,
    keepBeside: (model, rows) => sql`
      update memories set next_embedding = vector::vector, next_embedding_model = ${model}
      from ${made(rows)} where memories.id = made.id and md5(content) = digest
        and coalesce(next_embedding_model, ${model}) = ${model}`,
    locked: sql`memories`,
    missing: (model) => sql`
      select from memories
      where ${outdatedMemory(model)} and next_embedding_model is distinct from ${model}::text`,
    exchange: (model) => [
      sql`
        update memories set embedding = next_embedding, embedding_model = next_embedding_model,
          next_embedding = null, next_embedding_model = null
        where ${outdatedMemory(model)}`,
      // Hubs with the old model notice this and stop: their vectors are no longer comparable.
      sql`update system_config set embedding_model = ${model}`,
    ],
  },
}
