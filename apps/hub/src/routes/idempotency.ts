import { createHash } from 'node:crypto'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { idempotencyKeys } from '@recall/store-postgres'
import { and, eq, gt, isNull, lt, or, type SQL } from 'drizzle-orm'
import type { Context } from 'hono'
import type { Hub, HubEnv } from '../hub.ts'
import type { Claim } from '../pipelines/write-memory.ts'

/** How long an answer is remembered. */
export const rememberedMs = 24 * 60 * 60 * 1000
/**
 * A first request that has not answered within this time counts as dead: its steps usually take no longer. If it is
 * only slow, its repetition answers, and it can no longer write.
 */
const abandonedMs = ({ embedTimeoutMs, databaseTimeoutMs }: Hub['config']): number =>
  embedTimeoutMs + 6 * databaseTimeoutMs

/** By its draft, a key is a quoted string, but most clients send it bare. */
export const unquoted = (key: string): string => key.replace(/^"(.*)"$/, '$1')

/**
 * Runs a request once for each `Idempotency-Key` of an agent; a repetition gets the first answer. A request that fails
 * is forgotten and may be tried again.
 *
 * @param answer runs the request. Given a claim, it must store its answer under the claim in the same statement that
 * writes the result, so that a hub that restarts repeats that answer. The statement may write only while the claim
 * exists and is unanswered; otherwise `answer` returns `undefined`. So an abandoned slow attempt cannot write a second
 * time
 * @throws MemoryError CONFLICT while the first request is still running; INVALID_INPUT, with status 422, when the key
 * was used with another body before
 */
export async function answeringOnce<T>(
  hub: Hub,
  context: Context<HubEnv>,
  input: unknown,
  answer: (claim?: Claim) => Promise<T | undefined>,
): Promise<T> {
  const given = unquoted(context.req.header('Idempotency-Key') ?? '')
  if (!given) return (await answer()) as T
  // Agents may write anything into it, also what is secret.
  const key = sha256(given)
  const { database, call, clock } = hub
  const agentId = context.get('principal').id
  const route = `${context.req.method} ${context.req.routePath}`
  const fingerprint = sha256(JSON.stringify(input))
  const named = and(
    eq(idempotencyKeys.agentId, agentId),
    eq(idempotencyKeys.route, route),
    eq(idempotencyKeys.key, key),
  )
  const createdAt = new Date(clock())
  const [claimed] = await call(() =>
    database
      .insert(idempotencyKeys)
      .values({ agentId, route, key, fingerprint, createdAt })
      .onConflictDoUpdate({
        target: [idempotencyKeys.agentId, idempotencyKeys.route, idempotencyKeys.key],
        set: { fingerprint, createdAt, status: null, body: null },
        setWhere: or(
          lt(idempotencyKeys.createdAt, new Date(clock() - rememberedMs)),
          and(
            isNull(idempotencyKeys.status),
            or(
              lt(idempotencyKeys.createdAt, new Date(clock() - abandonedMs(hub.config))),
              // Claimed by a clock that ran ahead.
              gt(idempotencyKeys.createdAt, new Date(clock() + abandonedMs(hub.config))),
            ),
          ),
        ) as SQL,
      })
      .returning({ key: idempotencyKeys.key }),
  )
  const firstAnswer = async (): Promise<T> => {
    const [earlier] = await call(() => database.select().from(idempotencyKeys).where(named))
    if (earlier && earlier.fingerprint !== fingerprint) throw otherBody()
    if (earlier?.body) return JSON.parse(earlier.body) as T
    throw stillRunning()
  }
  if (!claimed) return firstAnswer()
  try {
    return (await answer({ agentId, route, key, fingerprint })) ?? (await firstAnswer())
  } catch (error) {
    // Also after an error that leaves the outcome of the write unknown: without its claim it can no longer write. If
    // the database is down, the claim stays until it counts as abandoned, and the caller gets the original error.
    const own = and(named, isNull(idempotencyKeys.status), eq(idempotencyKeys.createdAt, createdAt))
    await call(() => database.delete(idempotencyKeys).where(own)).catch(() => {})
    throw error
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const otherBody = (): MemoryError =>
  new MemoryError(
    'this Idempotency-Key came with another body before: give each new request its own key',
    MemoryErrorCode.INVALID_INPUT,
    { details: { status: 422 } },
  )

const stillRunning = (): MemoryError =>
  new MemoryError(
    'the first request with this Idempotency-Key is still running: try again in a second',
    MemoryErrorCode.CONFLICT,
    { retryAfterMs: 1000 },
  )
