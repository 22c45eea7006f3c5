import { longestTimerMs, MemoryError, MemoryErrorCode } from '@recall/core'

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
