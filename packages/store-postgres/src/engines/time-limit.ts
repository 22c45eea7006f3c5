import { longestTimerMs, MemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { liftingStatement } from './watch-silence.ts'

/**
 * A time limit in the form that timers and Postgres take; both have the same upper bound.
 *
 * @param timeoutMs may be Infinity
 * @throws MemoryError INVALID_INPUT unless it is a number above 0
 */
export function timeLimit(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return Math.min(Math.ceil(timeoutMs), longestTimerMs)
  throw new MemoryError('timeoutMs must be a number of milliseconds above 0', MemoryErrorCode.INVALID_INPUT)
}

/** Lets the statements of a transaction take as long as they do: its connection may then be silent as long. */
export const liftTimeLimit = (transaction: Database): Promise<unknown> =>
  transaction.execute(sql.raw(liftingStatement))
