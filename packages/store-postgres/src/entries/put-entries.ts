import type { Entry } from '@recall/core'
import { alreadyExists } from '@recall/core/stores'
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { entries, units } from '../schema/entries.ts'
import { isExpired, isLive } from './conditions.ts'
import { rowsFor } from './rows.ts'
import type { Shelf } from './shelf.ts'

/** How entries are written. */
interface PutManner {
  overwrite: boolean
  now: number
  /** Whether the replaced versions were seen: then the entries keep their own times. Default: no. */
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
  const made: Awaited<ReturnType<typeof rowsFor>>[] = []
  for (const entry of some) made.push(await rowsFor(entry, shelf))
  const rows = made.map(({ row }) => row) as [Row, ...Row[]]
  const [{ place }] = rows
  // An expired entry counts as absent. An archive stores entries unchanged.
  const succeeds = shelf.archived ? sql`false` : isLive(now)
  const kept = sql`
    insert into ${entries} (${columnNames})
    select ${rowNames} from json_to_recordset(${JSON.stringify(rows)}::text::json) as made (${rowTypes})
    -- Tells the planner how many there are.
    limit ${rows.length}::int
    on conflict (place, id) do update set ${replacements}, ${timesOf(succeeds, seen)},
      created_at = case when ${succeeds} then entries.created_at else excluded.created_at end,
      access_count = case when ${succeeds} then entries.access_count else excluded.access_count end
    ${overwrite ? sql`` : sql`where ${isExpired(now)}`}
    returning id, unit_count`
  const words = shelf.textConfiguration
    ? sql`counted_words(${shelf.textConfiguration}::regconfig, "text")`
    : sql`"words"::tsvector`
  const quota = shelf.quotas[some[0].scope]
  const limited = quota === undefined ? sql`` : sql`, ${namingQuota(place, quota)}`
  const parts = made.flatMap(({ row, units: own }) => own.map((unit) => ({ ...unit, entry: row.id })))
  // A concurrent writer may leave units beyond `unitCount`: readers ignore them.
  const written = await rowsOf<{ id: string }>(
    via,
    sql`
      with kept as (${kept}), gone as (
        delete from ${units} using kept where place = ${place} and entry = kept.id and unit >= unit_count
      ), units_kept as (
        insert into ${units} (place, entry, unit, words, word_count, parts, label, embedding)
        select ${place}::uuid, kept.id, unit, ${words}, "wordCount", parts, label, embedding::vector
        from kept join json_to_recordset(${JSON.stringify(parts)}::text::json)
          as made (entry uuid, unit int, "text" text, words text, "wordCount" int, parts int, label text, embedding text)
          on made.entry = kept.id
        on conflict (place, entry, unit) do update
        set words = excluded.words, word_count = excluded.word_count, parts = excluded.parts, label = excluded.label,
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

type Row = Awaited<ReturnType<typeof rowsFor>>['row']

const { version: _, ...columns } = getTableColumns(entries)

/** SQL for each column of a row, built once: drizzle would take a millisecond for each write. */
const listed = (
  print: (column: string, name: string, type: string) => string,
  without: readonly string[] = [],
): SQL =>
  sql.raw(
    Object.entries(columns)
      .filter(([name]) => !without.includes(name))
      .map(([name, column]) => print(column.name, name, column.getSQLType()))
      .join(', '),
  )

const columnNames = listed((column) => column)
const rowNames = listed((_, name) => `"${name}"`)
const rowTypes = listed((_, name, type) => `"${name}" ${type}`)

/** Sets the columns that a rewritten row takes over unchanged. */
const replacements = sql`version = excluded.version, ${listed(
  (column) => `${column} = excluded.${column}`,
  ['place', 'id', 'createdAt', 'accessCount', 'updatedAt', 'accessedAt'],
)}`

/**
 * The version always differs from the replaced one, even within a millisecond; a version that was seen has been
 * compared.
 */
function timesOf(succeeds: SQL, seen: boolean): SQL {
  if (seen) return sql`updated_at = excluded.updated_at, accessed_at = excluded.accessed_at`
  const later = sql`greatest(excluded.updated_at, entries.updated_at + 1)`
  return sql`
    updated_at = case when ${succeeds} then ${later} else excluded.updated_at end,
    accessed_at = case when ${succeeds} then ${later} else excluded.accessed_at end`
}
