import { isMemoryError } from '@recall/core'
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
 * @param given a common table expression that both may name
 * @returns how many were changed
 */
export async function changeMemories(hub: Hub, change: SQL, condition: SQL, given?: SQL): Promise<number> {
  const before = given ? sql`with ${given}` : sql``
  for (let changed = 0; ; ) {
    const rows = await callReferring(hub, () =>
      rowsOf(
        hub.database,
        sql`
          ${before} update memories set ${change}
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

/** Attempts at a change that refers to memories which others delete at the same moment. */
const attempts = 5

/** Runs a call that makes memories refer to others, and runs it again when one of those was deleted meanwhile. */
export async function callReferring<T>({ call }: Pick<Hub, 'call'>, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(run)
    } catch (error) {
      if (!refersToDeleted(error) || attempt === attempts) throw error
    }
  }
}

/** SQLSTATE of a row that names another one which is gone, such as a memory that was deleted since it was read. */
const foreignKeyViolation = '23503'

export const refersToDeleted = (error: unknown): boolean =>
  isMemoryError(error) && error.details?.postgres === foreignKeyViolation
