import { isMemoryError, MemoryErrorCode } from '@recall/core'

/** 0 fine · 1 the answer is no · 2 wrong use · 3 failed */
export const exitCodes = { fine: 0, no: 1, wrongUse: 2, failed: 3 } as const

export function exitCodeOf(error: unknown): number {
  if (isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) return exitCodes.wrongUse
  if (isMemoryError(error, MemoryErrorCode.NOT_FOUND)) return exitCodes.no
  return exitCodes.failed
}

/** What was asked cannot be done as it was asked. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
