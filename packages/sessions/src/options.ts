import { MemoryError, MemoryErrorCode } from '@recall/core'

export const defaultMaxEntries = 5
const defaultPartSize = 500_000
/** Longest delay of a timer, milliseconds: a longer one would end at once. */
export const longestTimer = 2 ** 31 - 1

/** @throws MemoryError INVALID_INPUT unless it is a whole number from 1 to 50 */
export function parseMaxEntries(maxEntries: number): number {
  return wholeNumber('maxEntries', maxEntries, 1, 50)
}

/** @throws MemoryError INVALID_INPUT unless it is a whole number of at least 1 */
export function parsePartSize(partSize: number = defaultPartSize): number {
  return wholeNumber('partSize', partSize, 1, Number.MAX_SAFE_INTEGER)
}

function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  const message = `${name} must be a whole number from ${least} to ${most}, not ${value}`
  throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT, {
    details: { issues: [{ path: name, message }] },
  })
}
