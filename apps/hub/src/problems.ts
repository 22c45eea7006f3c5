import { STATUS_CODES } from 'node:http'
import {
  errorStatus,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  problemsInWords,
  redactText,
} from '@recall/core'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/**
 * A problem document as in RFC 9457, where the title of `about:blank` is the phrase of the status. `code` is that of
 * the `MemoryError` that a client throws for it.
 */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: MemoryErrorCode
  /** The scope of the entry that it is about. */
  scope?: MemoryScope
  key?: string
  errors?: { pointer: string; detail: string }[]
  'violated-policies'?: string[]
}

/** Status phrases that RFC 9110 renamed and Node still has under the old name. */
const renamed: Record<number, string> = { 413: 'Content Too Large', 422: 'Unprocessable Content' }

const quotaExceeded = 'https://iana.org/assignments/http-problem-types#quota-exceeded'
const quotaTitle = 'Request cannot be satisfied as assigned quota has been exceeded'

/** The answer to a failure. Details of an error that is not a `MemoryError` are not shown to the caller. */
export function problemAnswer(context: Context, error: unknown): Response {
  const known = asMemoryError(error)
  const status = Number(known.details?.status ?? errorStatus[known.code].status)
  const isQuota = known.code === MemoryErrorCode.RATE_LIMITED
  const problem: Problem = {
    type: isQuota ? quotaExceeded : 'about:blank',
    title: isQuota ? quotaTitle : (renamed[status] ?? STATUS_CODES[status] ?? 'Error'),
    status,
    detail: known.message,
    code: known.code,
    ...(known.scope === undefined ? {} : { scope: known.scope }),
    ...(known.key === undefined ? {} : { key: known.key }),
    ...pointersOf(known),
    ...(Array.isArray(known.details?.policies) ? { 'violated-policies': known.details.policies } : {}),
  }
  const wait = known.retryAfterMs ?? (status === 503 || status === 504 ? 1000 : undefined)
  if (wait !== undefined) context.header('Retry-After', String(Math.ceil(wait / 1000)))
  if (status === 401) context.header('WWW-Authenticate', 'Bearer realm="recall"')
  return context.body(JSON.stringify(problem), status as ContentfulStatusCode, {
    'Content-Type': 'application/problem+json',
  })
}

function asMemoryError(error: unknown): MemoryError {
  if (isMemoryError(error)) return error
  if (error instanceof HTTPException && error.status < 500) {
    return error.status === 415 ? wrongType() : badRequest(error.message, error.status)
  }
  // Only deeply nested input makes a recursive function run out of stack.
  if (error instanceof RangeError && /call stack/.test(error.message)) {
    return new MemoryError('the body is nested too deep', MemoryErrorCode.INVALID_INPUT)
  }
  return new MemoryError('the hub failed to answer: try again later', MemoryErrorCode.SEARCH_FAILED)
}

const badRequest = (message: string, status: number): MemoryError =>
  new MemoryError(message, MemoryErrorCode.INVALID_INPUT, { details: { status } })

/** The error for a body that is not JSON, or does not say so. */
export const wrongType = (): MemoryError => badRequest('send the body as Content-Type: application/json', 415)

/** The answer to a method that a path does not take. */
export function wrongMethod(context: Context, methods: string[]): Response {
  context.header('Allow', methods.join(', '))
  return problemAnswer(context, badRequest(`${context.req.path} takes ${methods.join(', ')}`, 405))
}

function pointersOf({ details }: MemoryError): Pick<Problem, 'errors'> {
  const issues = details?.issues
  if (!Array.isArray(issues)) return {}
  return {
    errors: (issues as { path: string; message: string }[]).map(({ path, message }) => ({
      pointer: path === '' ? '#' : `#/${path.replaceAll('.', '/')}`,
      detail: message,
    })),
  }
}

/** The names of unknown members may hold secrets, and fill a body of megabytes. */
const longestMessage = 1000

/** Joins the problems that a route's validator found into one error. */
export function invalidRequest(issues: readonly { path: PropertyKey[]; message: string }[]): MemoryError {
  const problems = issues.map(({ path, message }) => ({
    path: path.map(String).join('.'),
    message: redactText(message.slice(0, longestMessage)).text,
  }))
  return new MemoryError(problemsInWords(problems), MemoryErrorCode.INVALID_INPUT, {
    details: { issues: problems },
  })
}

export const notFound = (what: string): MemoryError =>
  new MemoryError(`there is no ${what}`, MemoryErrorCode.NOT_FOUND)
