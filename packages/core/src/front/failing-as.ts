import { isMemoryError, MemoryError, type MemoryErrorCode, messageOf } from '../errors.ts'
import type { MemoryScope } from '../scope.ts'

/** Lets a store's own `MemoryError` through and gives every other failure a code, a scope and its cause. */
export async function failingAs<T>(
  code: MemoryErrorCode,
  context: { scope: MemoryScope; key?: string },
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (isMemoryError(error)) throw error
    throw new MemoryError(messageOf(error), code, { ...context, cause: error })
  }
}
