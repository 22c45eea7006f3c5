import { rowsOf } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'

/** Each memory that changes enters the index of vectors once more: so many take about a second. */
export const rowsAtOnce = 500

/**
 * Changes all memories that a condition selects, some at a time, because one statement for many would take longer than
 * any statement may. They are locked in the order of everybody, and so that others may refer to them.
 *
 * @param change what is set, in SQL
 * @param condition no longer selects a memory that was changed
 * @returns how many were changed
 */
export async function changeMemories({ database, call }: Hub, change: SQL, condition: SQL): Promise<number> {
  for (let changed = 0; ; ) {
    const rows = await call(() =>
      rowsOf(
        database,
        sql`
          update memories set ${change}
          where id in (
            select id from memories where ${condition} order by id limit ${rowsAtOnce} for no key update
          )
          returning id`,
      ),
    )
    changed += rows.length
    if (rows.length < rowsAtOnce) return changed
  }
}
