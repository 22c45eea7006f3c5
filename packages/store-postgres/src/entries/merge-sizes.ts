import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeSizes } from '../schema/entries.ts'

/** Rows that one statement merges: it may not take long, however many there are. */
const mergedTogether = 10_000

/**
 * Merges the counts of backends that have ended into one row for each place, so that few rows remain to sum.
 *
 * @param among a condition on `place_sizes`: the places to look at
 * @returns whether there may be more to merge
 */
export async function mergeSizes(database: Database, among: SQL): Promise<boolean> {
  const ended = sql`${among} and ${placeSizes.backend} <> 0
    and ${placeSizes.backend} <> all (select pid from pg_stat_activity)`
  const [merged] = await rowsOf<{ rows: number }>(
    database,
    sql`
      with gone as (
        delete from ${placeSizes} where ${ended}
          and ctid = any(array(select ctid from ${placeSizes} where ${ended} limit ${mergedTogether}))
        returning place, entries, bytes, units, worded, words, held
      ), kept as (
        insert into ${placeSizes} (place, backend, entries, bytes, units, worded, words, held)
        select place, 0, sum(entries), sum(bytes), sum(units), sum(worded), sum(words), sum(held)
        from gone group by place order by place
        on conflict (place, backend) do update
        set entries = place_sizes.entries + excluded.entries, bytes = place_sizes.bytes + excluded.bytes,
          units = place_sizes.units + excluded.units, worded = place_sizes.worded + excluded.worded,
          words = place_sizes.words + excluded.words, held = place_sizes.held + excluded.held
      )
      select count(*)::int as rows from gone`,
  )
  return merged?.rows === mergedTogether
}

/** Removes the merged rows of places in which nothing is left. */
export const dropEmptySizes = (database: Database): Promise<unknown> =>
  database.execute(sql`
    delete from ${placeSizes} where backend = 0 and entries = 0 and bytes = 0 and units = 0 and worded = 0
      and words = 0 and held = 0`)
