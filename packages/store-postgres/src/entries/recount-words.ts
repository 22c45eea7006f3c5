import { and, asc, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { entries, storeSettings } from '../schema/entries.ts'
import { entryOf, wholeEntry } from './rows.ts'
import { unitRowsOf } from './unit-rows.ts'
import { countedWords } from './words.ts'

/**
 * Raise it when core splits texts into other words. 1: scripts without spaces; 2: folded letters, Hangul. ASCII texts
 * are split as before.
 */
const wordsVersion = 2

/** Rows held in memory at a time; the text of each may be megabytes. */
const rowsAtOnce = 20

const { vectors: _, ...entryColumns } = wholeEntry
const columns = {
  ...entryColumns,
  place: entries.place,
  id: entries.id,
  version: entries.version,
}

/**
 * Counts the words of old entries again, if an earlier version split them differently: queries of this version would
 * not find them. Done once for a database; may be interrupted, or run twice at once. What a process of an earlier
 * version writes afterwards is recounted when it is written again.
 */
export async function recountWords(database: Database): Promise<void> {
  const [settings] = await database.select().from(storeSettings)
  if (settings && settings.wordsVersion >= wordsVersion) return
  // A configuration of Postgres splits texts as before.
  if (!settings?.textConfiguration) await recountAll(database)
  await database
    .insert(storeSettings)
    .values({ wordsVersion })
    .onConflictDoUpdate({ target: storeSettings.only, set: { wordsVersion } })
}

async function recountAll(database: Database): Promise<void> {
  const nothing = '00000000-0000-0000-0000-000000000000'
  for (let after = { place: nothing, id: nothing }; ; ) {
    const rows = await database
      .select(columns)
      .from(entries)
      .where(
        and(
          sql`(${entries.place}, ${entries.id}) > (${after.place}::uuid, ${after.id}::uuid)`,
          sql`${entries.text} ~ '[^[:ascii:]]'`,
        ),
      )
      .orderBy(asc(entries.place), asc(entries.id))
      .limit(rowsAtOnce)
    for (const row of rows) await recount(database, row)
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = last
  }
}

/** Recounts one entry, unless it was written meanwhile: then its words are already counted. */
async function recount(
  database: Database,
  row: Pick<typeof entries.$inferSelect, keyof typeof columns>,
): Promise<void> {
  const units = await unitRowsOf(entryOf({ ...row, vectors: null }))
  // An entry written before units existed has one unit, however long its text.
  const counted = units.length === row.unitCount ? units : [{ unit: 0, ...countedWords(row.text) }]
  const made = counted.map(({ unit, words, wordCount }) => ({ unit, words, wordCount }))
  const total = made.reduce((sum, { wordCount }) => sum + wordCount, 0)
  await rowsOf(
    database,
    sql`
      with held as (
        select place, id from entries
        where place = ${row.place} and id = ${row.id} and version = ${row.version} for update
      ), changed as (
        update units set words = made.words::tsvector, word_count = made."wordCount"
        from held, jsonb_to_recordset(${JSON.stringify(made)}::text::jsonb)
          as made (unit int, words text, "wordCount" int)
        where units.place = held.place and units.entry = held.id and units.unit = made.unit
          and units.words <> made.words::tsvector
        returning units.unit
      )
      update entries set word_count = ${total} from held
      where entries.place = held.place and entries.id = held.id and exists (select from changed)`,
  )
}
