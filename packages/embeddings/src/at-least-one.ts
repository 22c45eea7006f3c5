import { MemoryError, MemoryErrorCode } from '@recall/core'

/** @throws MemoryError INVALID_INPUT unless it is a whole number of at least 1 */
export function parseMaxBatch(maxBatch: number): number {
  if (Number.isInteger(maxBatch) && maxBatch >= 1) return maxBatch
  const message = `maxBatch must be a whole number of at least 1, not ${maxBatch}`
  throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
}
