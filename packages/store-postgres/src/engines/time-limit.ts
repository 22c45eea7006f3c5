import { MemoryError, MemoryErrorCode } from '@recall/core'

/** The most milliseconds that a timer and Postgres take, some 24 days: a longer timer would go off at once. */
const longest = 2 ** 31 - 1

/**
 * A time limit as timers and Postgres take one.
 *
 * @param timeoutMs may be Infinity
 * @throws MemoryError INVALID_INPUT for what is no number above 0
 */
export function timeLimit(timeoutMs: number): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return Math.min(Math.ceil(timeoutMs), longest)
  throw new MemoryError('timeoutMs is a number of milliseconds, above 0', MemoryErrorCode.INVALID_INPUT)
}
