import { MemoryErrorCode } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { asMemoryErrors } from '../engines/postgres-errors.ts'

/** Entries that one statement looks at: it may not take long. */
const lookedAt = 10_000

/** Where a page of the table begins: behind an entry, or at the first one. */
type From = { place: string; id: string } | undefined

/**
 * Removes the expired entries of all places, of whichever tenants, from the archives too. After a failure the next call
 * begins anew.
 *
 * @param now milliseconds since 1970
 * @param timeoutMs longest time for one of its statements
 * @returns how many were removed
 */
export async function sweepAll(database: Database, now: number, timeoutMs?: number): Promise<number> {
  const running = <T>(call: () => Promise<T>): Promise<T> =>
    asMemoryErrors(MemoryErrorCode.WRITE_FAILED, call, timeoutMs)
  let removed = 0
  let from: From
  for (;;) {
    const page = pageFrom(from)
    const [looked] = await running(() => look(database, page, now))
    // Most pages have none, and then nothing waits for whoever holds the table.
    if (looked?.hasExpired) removed += (await running(() => removeExpired(database, page, now))).length
    if (!looked?.last) return removed
    from = looked.last
  }
}

const pageFrom = (from: From): SQL => sql`
  select place, id, expires_at from entries
  where ${from ? sql`(place, id) > (${from.place}::uuid, ${from.id}::uuid)` : sql`true`}
  order by place, id limit ${lookedAt}`

/** `last` is absent where the table ends. */
const look = (database: Database, page: SQL, now: number) =>
  rowsOf<{ hasExpired: boolean | null; last: { place: string; id: string } | null }>(
    database,
    sql`
      with page as materialized (${page})
      select (select bool_or(expires_at <= ${now}::float8) from page) as "hasExpired", (
        select json_build_object('place', place, 'id', id) from page
        where (select count(*) from page) = ${lookedAt} order by place desc, id desc limit 1
      ) as last`,
  )

/** Locks them in the order in which everybody locks the entries of a place. */
const removeExpired = (database: Database, page: SQL, now: number) =>
  rowsOf(
    database,
    sql`
      with page as materialized (${page}), expired as materialized (
        select place, id from entries
        where (place, id) in (select place, id from page where expires_at <= ${now}::float8)
          and expires_at <= ${now}::float8
        order by place, id for update
      )
      delete from entries where (place, id) in (select place, id from expired) returning id`,
  )
