import { alreadyExists, type Entry } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { isExpired, isLive, type Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { rowsFor } from './rows.ts'
import { entries, units } from './schema/entries.ts'

/** How entries are written. */
interface PutManner {
  overwrite: boolean
  now: number
  /** Whether the versions that they replace were seen: then their own times are kept. Default: no. */
  seen?: boolean
}

/**
 * Writes entries of one place, each key once, with their units in one statement: all or nothing, without the round
 * trips of a transaction.
 *
 * @throws MemoryError CONFLICT when a key exists and may not be overwritten; QUOTA_EXCEEDED, which a transaction
 * throws only when it commits
 */
export async function putEntries(
  via: Database,
  some: readonly [Entry, ...Entry[]],
  shelf: Shelf,
  { overwrite, now, seen = false }: PutManner,
): Promise<void> {
  const made = some.map((entry) => rowsFor(entry, shelf))
  const rows = made.map(({ row }) => row) as [Row, ...Row[]]
  const { place, id: _, createdAt: __, accessCount: ___, ...replaced } = rows[0]
  // An expired entry counts as absent. An archive stores entries unchanged.
  const succeeds = shelf.archived ? sql`false` : isLive(now)
  const later = sql`greatest(excluded.updated_at, ${entries.updatedAt} + 1)`
  const kept = via
    .insert(entries)
    .values(rows)
    .onConflictDoUpdate({
      target: [entries.place, entries.id],
      set: {
        ...fromExcluded(Object.keys(replaced) as (keyof Row)[]),
        version: sql`excluded.version`,
        createdAt: sql`case when ${succeeds} then ${entries.createdAt} else excluded.created_at end`,
        accessCount: sql`case when ${succeeds} then ${entries.accessCount} else excluded.access_count end`,
        // The version differs from the one it replaces, also within a millisecond; an expected one was seen.
        ...(seen
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
  const quota = shelf.quotas[some[0].scope]
  const limited = quota === undefined ? sql`` : sql`, ${namingQuota(place, quota)}`
  const counts = rows.map(({ id, unitCount }) => ({ id, unitCount }))
  const parts = made.flatMap(({ row, units: own }) => own.map((unit) => ({ ...unit, entry: row.id })))
  // A concurrent writer may leave units beyond `unitCount`: readers ignore them.
  const written = await rowsOf<{ id: string }>(
    via,
    sql`
      with kept as ${kept}, gone as (
        delete from ${units} using kept
          join jsonb_to_recordset(${JSON.stringify(counts)}::text::jsonb) as counted (id uuid, "unitCount" int)
            on counted.id = kept.id
        where place = ${place} and entry = kept.id and unit >= "unitCount"
      ), units_kept as (
        insert into ${units} (place, entry, unit, words, word_count, label, embedding)
        select ${place}::uuid, kept.id, unit, ${words}, "wordCount", label, embedding::vector
        from kept join jsonb_to_recordset(${JSON.stringify(parts)}::text::jsonb)
          as made (entry uuid, unit int, "text" text, words text, "wordCount" int, label text, embedding text)
          on made.entry = kept.id
        on conflict (place, entry, unit) do update
        set words = excluded.words, word_count = excluded.word_count, label = excluded.label,
          embedding = excluded.embedding, next_embedding = null, next_embedding_model = null
      )
      select id ${limited} from kept`,
  )
  if (written.length === some.length) return
  const done = new Set(written.map(({ id }) => id))
  throw alreadyExists(some[rows.findIndex(({ id }) => !done.has(id))] ?? some[0])
}

/** Sets what the trigger `refuse_beyond_quota` reads when the transaction commits. */
export const namingQuota = (place: string, quota: number): SQL => sql`
  set_config('recall.quotas', (
    coalesce(nullif(current_setting('recall.quotas', true), ''), '{}')::jsonb
      || jsonb_build_object(${place}::text, ${quota}::bigint)
  )::text, true)`

type Row = ReturnType<typeof rowsFor>['row']

/** The values that a row which is written anew had, as `set` takes them. */
const fromExcluded = (names: readonly (keyof Row)[]) =>
  Object.fromEntries(names.map((name) => [name, sql`excluded.${sql.identifier(entries[name].name)}`]))
