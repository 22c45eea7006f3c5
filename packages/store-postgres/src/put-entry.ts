import { alreadyExists, type Entry, type Expected, type PutOptions } from '@recall/core'
import { sql } from 'drizzle-orm'
import { isExpired, isLive, type Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { rowsFor } from './rows.ts'
import { entries, units } from './schema/entries.ts'

/**
 * Writes an entry and its units in one statement: all or nothing, without the round trips of a transaction.
 *
 * @throws MemoryError CONFLICT when the key exists and may not be overwritten; QUOTA_EXCEEDED, which a transaction
 * throws only when it commits
 */
export async function putEntry(
  via: Database,
  entry: Entry,
  shelf: Shelf,
  { overwrite, now }: PutOptions,
  expected?: Expected,
): Promise<void> {
  const { row, units: made } = rowsFor(entry, shelf)
  const { place, id, createdAt, accessCount, ...replaced } = row
  // An expired entry counts as absent. An archive stores entries unchanged.
  const succeeds = shelf.archived ? sql`false` : isLive(now)
  const later = sql`greatest(excluded.updated_at, ${entries.updatedAt} + 1)`
  const kept = via
    .insert(entries)
    .values(row)
    .onConflictDoUpdate({
      target: [entries.place, entries.id],
      set: {
        ...replaced,
        version: sql`excluded.version`,
        createdAt: sql`case when ${succeeds} then ${entries.createdAt} else excluded.created_at end`,
        accessCount: sql`case when ${succeeds} then ${entries.accessCount} else excluded.access_count end`,
        // The version differs from the one it replaces, also within a millisecond; an expected one was seen.
        ...(expected
          ? {}
          : {
              updatedAt: sql`case when ${succeeds} then ${later} else excluded.updated_at end`,
              accessedAt: sql`case when ${succeeds} then ${later} else excluded.accessed_at end`,
            }),
      },
      ...(overwrite ? {} : { setWhere: isExpired(now) }),
    })
    .returning({ id: entries.id })
  const words = shelf.textConfiguration
    ? sql`counted_words(${shelf.textConfiguration}::regconfig, "text")`
    : sql`"words"::tsvector`
  const quota = shelf.quotas[entry.scope]
  // The trigger `refuse_beyond_quota` reads this setting when the transaction commits.
  const limited =
    quota === undefined
      ? sql``
      : sql`, set_config('recall.quotas', (
          coalesce(nullif(current_setting('recall.quotas', true), ''), '{}')::jsonb
            || jsonb_build_object(${place}::text, ${quota}::bigint)
        )::text, true)`
  // A concurrent writer may leave units beyond `unitCount`: readers ignore them.
  const written = await rowsOf(
    via,
    sql`
      with kept as ${kept}, gone as (
        delete from ${units} where place = ${place} and entry = ${id} and unit >= ${made.length}
          and exists (select from kept)
      ), units_kept as (
        insert into ${units} (place, entry, unit, words, word_count, label, embedding)
        select ${place}::uuid, kept.id, unit, ${words}, "wordCount", label, embedding::vector
        from kept, jsonb_to_recordset(${JSON.stringify(made)}::text::jsonb)
          as made (unit int, "text" text, words text, "wordCount" int, label text, embedding text)
        on conflict (place, entry, unit) do update
        set words = excluded.words, word_count = excluded.word_count, label = excluded.label,
          embedding = excluded.embedding, next_embedding = null, next_embedding_model = null
      )
      select id ${limited} from kept`,
  )
  if (written.length === 0) throw alreadyExists(entry)
}
