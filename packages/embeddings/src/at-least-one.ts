import { MemoryError, MemoryErrorCode } from '@recall/core'

/** @throws MemoryError INVALID_INPUT unless the option of that name is a whole number of at least 1 */
export function atLeastOne(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value
  const message = `${name} must be a whole number of at least 1, not ${value}`
  throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
}
