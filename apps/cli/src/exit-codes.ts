import type { MemoryErrorCode } from '@recall/core'

/** 0 fine · 1 the answer is no · 2 wrong use · 3 failed · 130 interrupted by Ctrl-C, as shells report it */
export const exitCodes = { fine: 0, no: 1, wrongUse: 2, failed: 3, interrupted: 130 } as const

/** Wrong use of the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const access = 'check that this user may read and write there'

/** Remedies for errors in the system's words, which only say what is wrong. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: access,
  EPERM: access,
  EROFS: 'that disk is mounted for reading only',
  ENOSPC: 'make room on that disk',
}

/** What programs receive for an error. */
export function errorDocument(error: unknown): { code?: string; message: string } {
  const message = error instanceof Error ? error.message : String(error)
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  if (typeof code === 'string') {
    const remedy = syscall === undefined ? undefined : remedies[code]
    return { code, message: remedy ? `${message}: ${remedy}` : message }
  }
  if (exitCodeOf(error) !== exitCodes.wrongUse) return { message }
  return { code: 'MEMORY_INVALID_INPUT' satisfies MemoryErrorCode, message }
}

/** Compares codes instead of classes: importing the class would load the whole contract, even for `--version`. */
export function exitCodeOf(error: unknown): number {
  // By name: each command's bundle has its own copy of the class.
  if ((error as { name?: unknown } | null)?.name === 'UsageError') return exitCodes.wrongUse
  const code = (error as { code?: unknown } | null)?.code
  // The answer to a question was Ctrl-C or Ctrl-D.
  if (code === 'ABORT_ERR') return exitCodes.interrupted
  if (code === ('MEMORY_INVALID_INPUT' satisfies MemoryErrorCode)) return exitCodes.wrongUse
  if (code === ('MEMORY_NOT_FOUND' satisfies MemoryErrorCode)) return exitCodes.no
  return exitCodes.failed
}
