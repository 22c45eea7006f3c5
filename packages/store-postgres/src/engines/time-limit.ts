import { longestTimerMs, MemoryError, MemoryErrorCode } from '@recall/core'

/**
 * A time limit as timers and Postgres take one, which have the same bound.
 *
 * @param timeoutMs may be Infinity
 * @throws MemoryError INVALID_INPUT for what is no number above 0
 */
export function timeLimit(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return Math.min(Math.ceil(timeoutMs), longestTimerMs)
  throw new MemoryError('timeoutMs is a number of milliseconds, above 0', MemoryErrorCode.INVALID_INPUT)
}
