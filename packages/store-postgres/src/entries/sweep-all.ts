import { MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { asMemoryErrors } from '../engines/postgres-errors.ts'

/** Entries that one statement looks at: it may not take long. */
const lookedAt = 10_000

interface Swept {
  removed: number
  /** Where it stopped; absent at the end. */
  place: string | null
  id: string | null
}

/**
 * Removes the expired entries of all places, of whichever tenants, from the archives too. After a failure the next call
 * begins anew.
 *
 * @param now milliseconds since 1970
 * @param timeoutMs longest time for one of its statements
 * @returns how many were removed
 */
export async function sweepAll(database: Database, now: number, timeoutMs?: number): Promise<number> {
  let total = 0
  let from: Pick<Swept, 'place' | 'id'> = { place: null, id: null }
  for (;;) {
    const [swept] = await asMemoryErrors(
      MemoryErrorCode.WRITE_FAILED,
      () => sweepFrom(database, from, now),
      timeoutMs,
    )
    total += swept?.removed ?? 0
    if (!swept?.place) return total
    from = swept
  }
}

/** Its rows are locked in the order in which everybody locks the entries of a place. */
const sweepFrom = (database: Database, { place, id }: Pick<Swept, 'place' | 'id'>, now: number) =>
  rowsOf<Swept>(
    database,
    sql`
      with looked as materialized (
        select place, id, expires_at from entries
        where ${place === null ? sql`true` : sql`(place, id) > (${place}::uuid, ${id}::uuid)`}
        order by place, id limit ${lookedAt}
      ), expired as materialized (
        select place, id from entries
        where (place, id) in (select place, id from looked where expires_at <= ${now}::float8)
          and expires_at <= ${now}::float8
        order by place, id for update
      ), removed as (
        delete from entries where (place, id) in (select place, id from expired) returning 1
      )
      select (select count(*)::int from removed) as removed, last.place, last.id
      from (select 1) as one left join (
        select place, id from looked where (select count(*) from looked) = ${lookedAt}
        order by place desc, id desc limit 1
      ) as last on true`,
  )
