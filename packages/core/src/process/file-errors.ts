import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'

/** The original error, below the errors that only add a path. */
export const causeOf = (error: unknown): unknown =>
  isMemoryError(error) && error.cause ? causeOf(error.cause) : error

/** The operating system's code, for example `ENOSPC`. */
export function errorCode(error: unknown): string | undefined {
  const code = (causeOf(error) as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** The call's result, or `null` when the file or folder does not exist. Every other failure is thrown. */
export function orAbsent<T>(call: () => T): T | null {
  try {
    return call()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Runs a call that writes to `path`.
 *
 * @throws MemoryError WRITE_FAILED naming the path, for every error that is not a MemoryError yet
 */
export function writing<T>(path: string, call: () => T): T {
  try {
    return call()
  } catch (cause) {
    if (isMemoryError(cause)) throw cause
    throw new MemoryError(
      `${path} could not be written: ${(cause as Error).message}`,
      MemoryErrorCode.WRITE_FAILED,
      { cause, details: { path } },
    )
  }
}
