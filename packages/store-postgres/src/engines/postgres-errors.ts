import { setTimeout as pause } from 'node:timers/promises'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'

/**
 * Runs a call to the database; its failures become `MemoryError`s. Drivers put the statement and its parameters, which
 * are people's memories, into their messages: only the error code and the name of the constraint are kept.
 *
 * @param call one statement, one transaction, or reads: a timeout does not cancel it. It is run once more if Postgres
 * rolls it back within the time because of a deadlock
 * @param fallback the code for failures that have no specific one
 * @param timeoutMs how long to wait for each run, because a server that hangs never answers. Default: for ever
 */
export async function asMemoryErrors<T>(
  fallback: MemoryErrorCode,
  call: () => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  try {
    return await twiceAtMost(timeoutMs === undefined ? call : () => withDeadline(call(), timeoutMs))
  } catch (error) {
    throw ownError(error) ?? memoryErrorOf(error, fallback)
  }
}

const deadlock = '40P01'

/** Lets the other callers take what they waited for; a retry at once could get in their way again. */
const pauseMs = 50

async function twiceAtMost<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (codeOf(error) !== deadlock) throw error
    await pause(pauseMs)
    return call()
  }
}

async function withDeadline<T>(call: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('deadline'), { code: 'ETIMEDOUT' })), timeoutMs)
  })
  try {
    return await Promise.race([call, deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Finds a `MemoryError`, even one that a query builder wrapped. */
function ownError(error: unknown): MemoryError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isMemoryError(each)) return each
  return undefined
}

function memoryErrorOf(error: unknown, fallback: MemoryErrorCode): MemoryError {
  const { code, constraint } = origin(error)
  const details = { ...(code ? { postgres: code } : {}), ...(constraint ? { constraint } : {}) }
  if (code === undefined) {
    const name = error instanceof Error ? error.name : typeof error
    return new MemoryError(`the call to Postgres failed (${name})`, fallback, { details })
  }
  const known = meanings.find(({ pattern }) => pattern.test(code))
  if (known) return new MemoryError(`${known.message} (${code})`, known.code, { details })
  return new MemoryError(`Postgres refused the call (${code})`, fallback, { details })
}

/** Matches SQLSTATE classes and codes, and the connection errors of Node and postgres.js. */
const meanings: readonly { pattern: RegExp; code: MemoryErrorCode; message: string }[] = [
  {
    pattern: /^(?:57014|55P03|CONNECT_TIMEOUT|ETIMEDOUT)$/,
    code: MemoryErrorCode.TIMEOUT,
    message: 'Postgres did not answer in time: try again; a write may have taken effect anyway',
  },
  {
    pattern: /^CONNECTION_ENDED$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'the connections to Postgres were closed before the call could begin: open them again',
  },
  {
    pattern: /^53300$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'Postgres takes no more connections: raise its max_connections, or let each process open fewer',
  },
  {
    pattern: /^(?:08...|57P0.|ECONN.*|EPIPE|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|CONNECTION_.*)$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'Postgres cannot be reached: check that it runs and that its URL is right',
  },
  {
    pattern: /^(?:40001|40P01)$/,
    code: MemoryErrorCode.CONFLICT,
    message: 'other writers got in the way: try again',
  },
  {
    pattern: /^(?:53100|53200|58030)$/,
    code: MemoryErrorCode.WRITE_FAILED,
    message: 'Postgres has no room left or cannot write to its disk',
  },
  {
    pattern: /^25006$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'Postgres takes no writes at the moment',
  },
  {
    pattern: /^(?:28...|3D000)$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'Postgres refused the login or has no such database: check its URL',
  },
  {
    pattern: /^42501$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message:
      'this user of Postgres may not do that: make the tables as the owner of the database, and grant this user access',
  },
  {
    pattern: /^RQ001$/,
    code: MemoryErrorCode.QUOTA_EXCEEDED,
    message: 'this would exceed the quota: delete entries or clean up first',
  },
  {
    pattern: /^42P01$/,
    code: MemoryErrorCode.UNAVAILABLE,
    message: 'the tables of Recall are missing: run its migrations',
  },
]

interface Origin {
  code?: string
  constraint?: string
}

/** The SQLSTATE of a failed statement, or the code of a lost connection. */
export const codeOf = (error: unknown): string | undefined => origin(error).code

/** The driver's own error, out of those that query builders wrap around it. */
function origin(error: unknown): Origin {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code, constraint_name: constraint } = each as { code?: unknown; constraint_name?: string }
    if (typeof code === 'string') return { code, ...(constraint ? { constraint } : {}) }
  }
  return {}
}
