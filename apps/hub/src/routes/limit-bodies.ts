import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { every } from 'hono/combine'
import type { HubEnv } from '../hub.ts'
import type { newRoutes } from './app.ts'

/** Largest body of a caller without a key, which has no more than a name to send; in bytes. */
const mostUnknown = 16 * 1024

/**
 * Refuses bodies that are too large, compressed or, apart from those of MCP, not in UTF-8, and addresses whose query is
 * not UTF-8. Use it after the callers are identified.
 *
 * @param most largest body of a known caller, in bytes
 */
export function limitBodies(app: ReturnType<typeof newRoutes>, most: number): void {
  app.use('/api/v1/agents/register', limitedTo(mostUnknown))
  app.use('/api/v1/*', forBodies(every(refuseCompressed, limitedTo(most), refuseOtherEncodings)))
  app.use('/api/v1/*', refuseUndecodable)
  // The handler there reads the body of any method.
  app.use('/mcp', every(refuseCompressed, limitedTo(most)))
}

/** Not as routes of these methods: a path would seem to accept each of them. */
const forBodies =
  (check: MiddlewareHandler<HubEnv>): MiddlewareHandler<HubEnv> =>
  (context, next) =>
    ['POST', 'PUT', 'PATCH'].includes(context.req.method) ? check(context, next) : next()

/** A compressed body may expand without end, and is not JSON as it arrives. */
const refuseCompressed: MiddlewareHandler<HubEnv> = async ({ req }, next) => {
  const coding = req.header('Content-Encoding') ?? 'identity'
  if (coding.toLowerCase() !== 'identity') throw compressed()
  await next()
}

const compressed = (): MemoryError =>
  new MemoryError(
    'the body is compressed: send it as it is, without Content-Encoding',
    MemoryErrorCode.INVALID_INPUT,
    { details: { status: 415, headers: { 'Accept-Encoding': 'identity' } } },
  )

const strict = new TextDecoder('utf-8', { fatal: true })

const refuseOtherEncodings: MiddlewareHandler<HubEnv> = async ({ req }, next) => {
  await textOf(req)
  await next()
}

/** The framework would search for an undecodable text as it stands in the address. */
const refuseUndecodable: MiddlewareHandler<HubEnv> = async ({ req }, next) => {
  const query = req.url.indexOf('?')
  try {
    if (query !== -1) decodeURIComponent(req.url.slice(query))
  } catch (cause) {
    throw new MemoryError(
      'the query of the address is not percent-encoded UTF-8: encode it as encodeURIComponent does',
      MemoryErrorCode.INVALID_INPUT,
      { cause },
    )
  }
  await next()
}

/**
 * The text of a body. Other readers would replace each byte that is not UTF-8. Some shells send the encoding of their
 * system, so its letters beyond ASCII would be lost.
 *
 * @throws MemoryError INVALID_INPUT
 */
export async function textOf(body: Pick<Request, 'arrayBuffer'>): Promise<string> {
  const bytes = await body.arrayBuffer().catch((cause: unknown) => {
    throw unreadable('did not arrive complete: send it again', cause)
  })
  try {
    return strict.decode(bytes)
  } catch (cause) {
    throw unreadable('is not in UTF-8, which JSON requires: encode it as UTF-8', cause)
  }
}

const unreadable = (why: string, cause: unknown): MemoryError =>
  new MemoryError(`the body ${why}`, MemoryErrorCode.INVALID_INPUT, { cause })

const limitedTo = (maxSize: number) =>
  bodyLimit({
    maxSize,
    async onError(context: Context<HubEnv>) {
      if (context.get('principal')) await discardBody(context.req.raw)
      throw bodyTooLarge(maxSize)
    },
  })

/** Longest body that is read to its end although it is too large, in bytes. */
const mostDiscarded = 64 * 1024 * 1024

/**
 * Reads and discards a body: a caller whose connection closes while it sends gets no answer, and believes that the hub
 * cannot be reached.
 */
async function discardBody({ headers, body }: Request): Promise<void> {
  // A body of unknown length has been read in part, and may never end.
  if (!body || !(Number(headers.get('Content-Length') ?? Number.NaN) <= mostDiscarded)) return
  try {
    for await (const _ of body);
  } catch {
    // The caller has gone.
  }
}

/** Closes the connection with the answer instead of reading the rest of the body. */
const bodyTooLarge = (maxSize: number): MemoryError =>
  new MemoryError(
    `the body is larger than the ${maxSize} bytes that one call may have: send less at once, and split a batch`,
    MemoryErrorCode.QUOTA_EXCEEDED,
    { details: { status: 413, headers: { Connection: 'close' } } },
  )
