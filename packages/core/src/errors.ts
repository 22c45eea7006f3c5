import type { MemoryScope } from './scope.ts'

/**
 * Every way a memory call can fail. One table maps each code to the HTTP status that carries it, so that
 * a caller cannot tell a local store from a remote one by its failures.
 */
export const MemoryErrorCode = {
  /** A named thing that must exist does not. Reading an absent key is not an error: it yields `null`. */
  NOT_FOUND: 'MEMORY_NOT_FOUND',
  /** The store could not make the write durable. Nothing was acknowledged. */
  WRITE_FAILED: 'MEMORY_WRITE_FAILED',
  /** The store could not answer a read or a search. */
  SEARCH_FAILED: 'MEMORY_SEARCH_FAILED',
  /** The scope has no room for the value. */
  QUOTA_EXCEEDED: 'MEMORY_QUOTA_EXCEEDED',
  /** Stored bytes do not parse, or do not match the schema given for them. */
  CORRUPTION: 'MEMORY_CORRUPTION',
  /** The backend did not answer in time; whether the call took effect is unknown. */
  TIMEOUT: 'MEMORY_TIMEOUT',
  /** The call's arguments are wrong; `details.issues` says which, each with its `path` and a `message`. */
  INVALID_INPUT: 'MEMORY_INVALID_INPUT',
  /** The key exists and may not be overwritten, or the data changed underneath. */
  CONFLICT: 'MEMORY_CONFLICT',
  /** The store lacks the capability that the call needs. */
  NOT_SUPPORTED: 'MEMORY_NOT_SUPPORTED',
  /** The memory was used after `close()`. */
  CLOSED: 'MEMORY_CLOSED',
  /** Remote stores only: no valid credential. */
  UNAUTHENTICATED: 'MEMORY_UNAUTHENTICATED',
  /** Remote stores only: the credential does not allow this. */
  FORBIDDEN: 'MEMORY_FORBIDDEN',
  /** Too many calls; `retryAfterMs` says how long to wait. */
  RATE_LIMITED: 'MEMORY_RATE_LIMITED',
  /** The backend cannot be reached, or its root is missing. */
  UNAVAILABLE: 'MEMORY_UNAVAILABLE',
} as const

export type MemoryErrorCode = (typeof MemoryErrorCode)[keyof typeof MemoryErrorCode]

export interface MemoryErrorContext {
  scope?: MemoryScope | undefined
  key?: string | undefined
  cause?: unknown
  /** Facts a program may use, for example `{ issues }` or `{ path }`. Never holds a memory's text. */
  details?: Record<string, unknown> | undefined
  retryAfterMs?: number | undefined
}

const brand = Symbol.for('recall.MemoryError')

/** The only error class that a memory throws on purpose. */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode
  // Declared only: a field would appear in every log as undefined.
  declare readonly scope?: MemoryScope
  declare readonly key?: string
  declare readonly details?: Record<string, unknown>
  declare readonly retryAfterMs?: number
  readonly [brand] = true

  constructor(message: string, code: MemoryErrorCode, context?: MemoryErrorContext)
  /** The same in the order of the specification. */
  constructor(message: string, code: MemoryErrorCode, scope?: MemoryScope, key?: string, cause?: unknown)
  constructor(
    message: string,
    code: MemoryErrorCode,
    given: MemoryErrorContext | MemoryScope = {},
    ...rest: [key?: string, cause?: unknown]
  ) {
    const context: MemoryErrorContext =
      typeof given === 'string' ? { scope: given, key: rest[0], cause: rest[1] } : given
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.name = 'MemoryError'
    this.code = code
    const { scope, key, details, retryAfterMs } = context
    if (scope !== undefined) this.scope = scope
    if (key !== undefined) this.key = key
    if (details !== undefined) this.details = details
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

/** Recognises a `MemoryError` of any installed copy of this package. */
export function isMemoryError(error: unknown, code?: MemoryErrorCode): error is MemoryError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as MemoryError).code === code
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** HTTP status for each code, and whether trying the same call again can help. */
export const errorStatus: Record<MemoryErrorCode, { status: number; retryable: boolean }> = {
  MEMORY_NOT_FOUND: { status: 404, retryable: false },
  MEMORY_WRITE_FAILED: { status: 500, retryable: false },
  MEMORY_SEARCH_FAILED: { status: 500, retryable: false },
  MEMORY_QUOTA_EXCEEDED: { status: 413, retryable: false },
  MEMORY_CORRUPTION: { status: 500, retryable: false },
  MEMORY_TIMEOUT: { status: 504, retryable: true },
  MEMORY_INVALID_INPUT: { status: 400, retryable: false },
  MEMORY_CONFLICT: { status: 409, retryable: false },
  MEMORY_NOT_SUPPORTED: { status: 501, retryable: false },
  MEMORY_CLOSED: { status: 503, retryable: false },
  MEMORY_UNAUTHENTICATED: { status: 401, retryable: false },
  MEMORY_FORBIDDEN: { status: 403, retryable: false },
  MEMORY_RATE_LIMITED: { status: 429, retryable: true },
  MEMORY_UNAVAILABLE: { status: 503, retryable: true },
}
