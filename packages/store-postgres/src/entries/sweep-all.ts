import { MemoryErrorCode } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { asMemoryErrors } from '../engines/postgres-errors.ts'
import { dropEmptySizes, mergeSizes } from './merge-sizes.ts'

/** Entries that one statement looks at: none may take long. */
const lookedAt = 10_000

/** The position of an entry in the order of the table. */
interface Position {
  place: string
  id: string
}

/**
 * Removes the expired entries of all places and tenants, archives included, and merges what each backend has counted
 * of a place. After a failure, the next call starts again.
 *
 * @param now milliseconds since 1970
 * @param timeoutMs longest time for one of its statements
 * @returns how many were removed
 */
export async function sweepAll(database: Database, now: number, timeoutMs?: number): Promise<number> {
  const running = <T>(call: () => Promise<T>): Promise<T> =>
    asMemoryErrors(MemoryErrorCode.WRITE_FAILED, call, timeoutMs)
  let removed = 0
  let from: Position | undefined
  for (;;) {
    const behind = from ? sql`(place, id) > (${from.place}::uuid, ${from.id}::uuid)` : sql`true`
    const [page] = await running(() => nextPage(database, behind, now))
    const last = page?.last
    const isInPage = last ? sql`${behind} and (place, id) <= (${last.place}::uuid, ${last.id}::uuid)` : behind
    // Most pages have none, and then nothing waits for another holder of the table.
    if (page?.hasExpired) removed += (await running(() => removeExpired(database, isInPage, now))).length
    if (!last) break
    from = last
  }
  while (await running(() => mergeSizes(database, sql`true`)));
  await running(() => dropEmptySizes(database))
  return removed
}

/** Whether the next page holds anything expired, and its last row, which is absent where the table ends. */
const nextPage = (database: Database, behind: SQL, now: number) =>
  rowsOf<{ hasExpired: boolean | null; last: Position | null }>(
    database,
    sql`
      with page as materialized (
        select place, id, expires_at from entries where ${behind} order by place, id limit ${lookedAt}
      )
      select (select bool_or(expires_at <= ${now}::float8) from page) as "hasExpired", (
        select json_build_object('place', place, 'id', id) from page
        where (select count(*) from page) = ${lookedAt} order by place desc, id desc limit 1
      ) as last`,
  )

/** Locks them first, in the order in which every writer locks the entries of a place. */
function removeExpired(database: Database, isInPage: SQL, now: number): Promise<unknown[]> {
  const expired = sql`from entries where ${isInPage} and expires_at <= ${now}::float8`
  return database.transaction(async (transaction) => {
    await transaction.execute(
      sql`select count(*) from (select ${expired} order by place, id for update) as locked`,
    )
    return rowsOf(transaction, sql`delete ${expired} returning id`)
  })
}
