import { isMemoryError } from '@recall/core'
import { rowsOf } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'

/** Each changed memory enters the vector index again: this many take about a second. */
export const rowsAtOnce = 500

/**
 * Changes all memories that a condition selects, some at a time, because one statement for many would exceed the time
 * limit. They are locked in the common order, in a way that lets others refer to them.
 *
 * @param change what is set, in SQL
 * @param condition must no longer select a memory after its change
 * @param given a common table expression that both may use
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

/** Runs a call that makes memories refer to others, and retries it when one of those was deleted meanwhile. */
export async function callReferring<T>({ call }: Pick<Hub, 'call'>, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(run)
    } catch (error) {
      if (!refersToDeleted(error) || attempt === attempts) throw error
    }
  }
}

/** SQLSTATE of a row that refers to a missing one, such as a memory that was deleted since it was read. */
const foreignKeyViolation = '23503'

export const refersToDeleted = (error: unknown): boolean =>
  isMemoryError(error) && error.details?.postgres === foreignKeyViolation
