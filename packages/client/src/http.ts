import {
  errorStatus,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  memoryScopes,
  refuseUnknownOptions,
} from '@recall/core'
import { readBody, retryAfterOf, withinTimeLimit } from '@recall/core/text'

export interface HttpOptions {
  /** Address of the hub, for example `https://recall.example.org`; with or without `/api/v1` at its end. */
  url: string | URL
  /** Key of the agent, `recall_…`. Registering needs none. */
  apiKey?: string | undefined
  /** Longest wait for one answer, in milliseconds; `Infinity` for ever. Default 15,000. */
  timeoutMs?: number | undefined
  /** Most retries of a call that is safe to repeat. Default 2. */
  retries?: number | undefined
  /** Default: the platform's. */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** Waits between two tries; tests replace it. */
  wait?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined
}

export interface RequestOptions {
  body?: unknown
  headers?: Record<string, string>
  /** Whether sending it twice does no more than sending it once. */
  repeatable?: boolean
  signal?: AbortSignal
}

/** Members that an answer has, by name: a JavaScript type, a list, or an entry, which may be `null`. */
export type Shape = Record<
  string,
  'string' | 'number' | 'boolean' | 'object' | 'list' | 'object or null' | 'string or null'
>

export type Send = <T>(method: string, path: string, shape: Shape, options?: RequestOptions) => Promise<T>

/**
 * Creates a function that calls the hub. Every failure becomes the `MemoryError` that a local store would throw.
 *
 * @throws MemoryError INVALID_INPUT when `url` is not a valid address, `apiKey` not a valid key, another option of the
 * wrong type, or an option unknown
 */
export function createHttp(options: HttpOptions): Send {
  // First and with `?.`, because a caller without type checks may pass no options.
  const base = baseOf(options?.url)
  const {
    url: _,
    apiKey,
    timeoutMs = 15_000,
    retries = 2,
    fetch = (request) => globalThis.fetch(request),
    wait = sleep,
    ...others
  } = options
  refuseUnknownOptions(others)
  // Checked here, because the platform would print an invalid key in its own error.
  if (apiKey !== undefined && !(typeof apiKey === 'string' && /^[\w-]{1,200}$/.test(apiKey))) {
    throw new MemoryError(
      'this is not a hub key: it should look like recall_ and 43 letters and digits',
      MemoryErrorCode.INVALID_INPUT,
    )
  }

  if (!(typeof timeoutMs === 'number' && timeoutMs >= 0))
    throw new MemoryError('timeoutMs must be a number, 0 or more', MemoryErrorCode.INVALID_INPUT)
  if (!(retries >= 0 && (Number.isInteger(retries) || retries === Number.POSITIVE_INFINITY)))
    throw new MemoryError('retries must be a whole number, 0 or more', MemoryErrorCode.INVALID_INPUT)

  for (const [name, call] of Object.entries({ fetch, wait })) {
    if (typeof call === 'function') continue
    throw new MemoryError(`${name} must be a function`, MemoryErrorCode.INVALID_INPUT)
  }

  const attempt = async <T>(
    method: string,
    path: string,
    shape: Shape,
    given: RequestOptions,
  ): Promise<T> => {
    const { headers, signal } = given
    const body = jsonOf(given.body)
    const requestInit: RequestInit = {
      method,
      headers: {
        Accept: 'application/json',
        ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      // The key must not be sent to the target of a redirect.
      redirect: 'manual',
    }
    const { response, text } = await withinTimeLimit({ timeoutMs, signal }, async (either) => {
      const request = new Request(new URL(path, base), { ...requestInit, signal: either })
      try {
        const response = await fetch(request)
        return { response, text: await readBody(response, mostBytes) }
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        throw unreachable(cause, base.host)
      }
    })
    if (response.ok) return parse<T>(text, shape, base.host)
    if (isRedirect(response)) throw redirected(response, base)
    throw problemOf(response, text, base.host)
  }

  return async <T>(method: string, path: string, shape: Shape, given: RequestOptions = {}): Promise<T> => {
    for (let tried = 0; ; tried++) {
      try {
        return await attempt<T>(method, path, shape, given)
      } catch (error) {
        if (!given.repeatable || !isWorthAnotherTry(error)) throw error
        // An earlier try got through and only its answer was lost: it arrives within the time for one answer.
        const most = isStillRunning(error) && retries > 0 ? Math.ceil(timeoutMs / 1000) : retries
        if (tried >= most) throw error
        await wait(pauseMs(error, tried), given.signal)
      }
    }
  }
}

/** A longer text would not fit into a string. */
const mostBytes = 2 ** 29 - 24

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    const message = 'this cannot be sent as JSON: give plain objects without cycles or BigInt'
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT, { cause })
  }
}

function baseOf(url: unknown): URL {
  const hub = URL.canParse(String(url)) ? new URL(String(url)) : undefined
  if (hub && /^https?:$/.test(hub.protocol) && hub.username === '' && hub.password === '') {
    // The skill file of a hub gives the address with this path as the base of its API.
    hub.pathname = `${hub.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/`
    return new URL('api/v1/', hub)
  }
  // The message leaves out the URL, which may hold a password.
  throw new MemoryError(
    'this is not the address of a hub: it should look like https://recall.example.org, without a name and a password',
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** Whether an answer is a redirect; browsers hide its status and target. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400)

function redirected({ headers, status }: Response, base: URL): MemoryError {
  const to = headers.get('Location')
  const origin = to !== null && URL.canParse(to, base.href) ? new URL(to, base).origin : 'elsewhere'
  return new MemoryError(
    `${base.origin} redirects to ${origin}, which is not followed: give the final address`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { status } },
  )
}

const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })

const isWorthAnotherTry = (error: unknown): boolean =>
  isMemoryError(error) && (errorStatus[error.code].retryable || isStillRunning(error))

/** Whether the hub is still working on an earlier call with the same Idempotency-Key. */
const isStillRunning = (error: unknown): boolean =>
  isMemoryError(error, MemoryErrorCode.CONFLICT) && error.retryAfterMs !== undefined

/** Longest pause between two tries, without its jitter. If the hub asks for a longer one, the error goes to the caller. */
const longestPauseMs = 10_000

/**
 * The pause before the next try, with jitter: what the hub asks for, otherwise twice the last one, up to the longest.
 *
 * @throws the error itself, when the hub asks for a longer pause than `longestPauseMs`
 */
function pauseMs(error: unknown, tried: number): number {
  const asked = isMemoryError(error) ? error.retryAfterMs : undefined
  if (asked !== undefined && asked > longestPauseMs) throw error
  return (asked ?? Math.min(longestPauseMs, 200 * 2 ** tried)) * (1 + Math.random() / 2)
}

/** What a hub answers: an object with these members. Anything else acknowledges nothing. */
function parse<T>(text: string, shape: Shape, host: string): T {
  const answer = jsonIn(text)
  if (isObject(answer) && Object.entries(shape).every(([name, kind]) => isKind(answer[name], kind)))
    return answer as T
  throw new MemoryError(
    `${host} did not answer with JSON as a hub does: is it a Recall hub?`,
    MemoryErrorCode.UNAVAILABLE,
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isKind(value: unknown, kind: Shape[string]): boolean {
  if (kind === 'list') return Array.isArray(value)
  const [type, orNull] = kind.split(' or ')
  if (value === null) return orNull !== undefined
  return type === 'object' ? isObject(value) : typeof value === type
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unreachable(cause: unknown, host: string): MemoryError {
  return cause instanceof Error && cause.name === 'TimeoutError'
    ? new MemoryError(`${host} did not answer in time`, MemoryErrorCode.TIMEOUT, { cause })
    : new MemoryError(
        `${host} cannot be reached: check that the address is right, and that the hub is running`,
        MemoryErrorCode.UNAVAILABLE,
        { cause },
      )
}

const codes: ReadonlySet<unknown> = new Set(Object.values(MemoryErrorCode))

/** Makes the error for an answer: with its code or, if something other than a hub answered, with one for its status. */
function problemOf(response: Response, text: string, host: string): MemoryError {
  const problem = problemIn(text)
  const code = codes.has(problem.code) ? (problem.code as MemoryErrorCode) : codeOfStatus(response.status)
  const retryAfterMs = retryAfterOf(response.headers, Date.now())
  const says =
    typeof problem.detail === 'string'
      ? problem.detail
      : `${host} answered ${response.status}, but not as a hub does: is it a Recall hub?`
  const scope = memoryScopes.find((known) => known === problem.scope)
  return new MemoryError(says, code, {
    ...(scope ? { scope } : {}),
    ...(typeof problem.key === 'string' ? { key: problem.key } : {}),
    details: {
      status: response.status,
      ...(Array.isArray(problem.errors) ? { issues: problem.errors.map(issueOf) } : {}),
    },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** A problem with an input in the form that every memory uses, from `{"pointer": "#/tags/0", "detail": "is empty"}`. */
function issueOf(problem: unknown): { path: string; message: string } {
  const { pointer = '', detail = '' } = (problem ?? {}) as { pointer?: unknown; detail?: unknown }
  return {
    path: String(pointer)
      .replace(/^#?\/?/, '')
      .replaceAll('/', '.'),
    message: String(detail),
  }
}

const problemIn = (
  text: string,
): { code?: unknown; detail?: unknown; scope?: unknown; key?: unknown; errors?: unknown } =>
  (jsonIn(text) ?? {}) as object

/** The code for a status that several codes may share: a server failure gets one that allows a retry. */
function codeOfStatus(status: number): MemoryErrorCode {
  if (status === 408 || status === 504) return MemoryErrorCode.TIMEOUT
  // Only a hub can know that it has no such memory.
  if (status >= 500 || status === 404) return MemoryErrorCode.UNAVAILABLE
  const found = Object.entries(errorStatus).find(([, known]) => known.status === status)
  return found ? (found[0] as MemoryErrorCode) : MemoryErrorCode.INVALID_INPUT
}
