import { setImmediate as pendingAnswers, setTimeout as wait } from 'node:timers/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { type Database, rateLimits } from '@recall/store-postgres'
import type { Redis } from 'ioredis'
import {
  RateLimiterDrizzle,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  type RateLimiterStoreAbstract,
} from 'rate-limiter-flexible'
import type { HubConfig } from '../config/config.ts'
import type { Tier } from './principal.ts'

export type Action = 'write' | 'search' | 'get'

interface Window {
  requests: number
  seconds: number
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers. */
export type LimitHeaders = Record<'RateLimit-Policy' | 'RateLimit', string>

interface Policy {
  /** Counts one request. @throws MemoryError RATE_LIMITED when a window is full */
  consume(who: string): Promise<LimitHeaders>
  /** Takes back one counted request that failed through no fault of its caller. */
  giveBack(who: string): Promise<void>
}

type Limiter = RateLimiterMemory | RateLimiterStoreAbstract

/** Where the processes of a hub keep common counts. */
export interface CountIn {
  redis?: Redis | undefined
  /** Only a Postgres server: an embedded database has a single process, which counts in memory. */
  database?: Database | undefined
  /** Longest wait for the common counts, in milliseconds. */
  timeoutMs: number
  /** Called, at most once a minute, with the reason why a request was counted by this process alone. */
  onAlone?: ((why: Error) => void) | undefined
}

/**
 * Counts requests in Redis if configured, otherwise in Postgres, so that all processes of a hub share their counts.
 * While that store does not answer, each process counts for itself: requests are still limited, and still served.
 */
export function createLimits(limits: HubConfig['limits'], given: CountIn) {
  const countIn = { ...given, onAlone: onceAMinute(given.onAlone), waiting: new Set<unknown>() }
  const policies = new Map<string, Policy>()
  const policy = (name: string, windows: readonly Window[]): Policy => {
    const known = policies.get(name) ?? createPolicy(name, windows, countIn)
    policies.set(name, known)
    return known
  }
  return {
    ofAgent: (tier: Tier, action: Action, agent: string): Promise<LimitHeaders> =>
      policy(`${tier}-${action}`, limits.tiers[tier][action]).consume(agent),
    giveBack: (tier: Tier, action: Action, agent: string): Promise<void> =>
      policy(`${tier}-${action}`, limits.tiers[tier][action]).giveBack(agent),
    ofAddress: (address: string): Promise<LimitHeaders> =>
      policy('register', limits.register).consume(address),
    ofPrivate: (agent: string): Promise<LimitHeaders> => policy('private', limits.private).consume(agent),
    ofMcp: (agent: string): Promise<LimitHeaders> => policy('mcp', limits.mcp).consume(agent),
  }
}

export type Limits = ReturnType<typeof createLimits>

/** Counts that wait for the common store at most: its driver keeps also those that nobody waits for any more. */
const mostWaiting = 500

function createPolicy(
  name: string,
  windows: readonly Window[],
  countIn: CountIn & { waiting: Set<unknown> },
): Policy {
  const limiters = windows.map(({ requests, seconds }) => {
    const options = { keyPrefix: `recall:${name}:${seconds}`, points: requests, duration: seconds }
    const local = new RateLimiterMemory(options)
    return { local, shared: sharedLimiter(options, countIn) }
  })
  /** Calls the common counts, or those of this process when there are none or they do not answer. */
  const ask = async <T>(
    { local, shared }: (typeof limiters)[number],
    call: (limiter: Limiter) => Promise<T>,
  ): Promise<T> => {
    const { waiting, timeoutMs } = countIn
    if (shared === undefined || waiting.size >= mostWaiting) return call(local)
    try {
      const asked = call(shared).finally(() => waiting.delete(asked))
      waiting.add(asked)
      return await inTime(asked, timeoutMs)
    } catch (error) {
      if (error instanceof RateLimiterRes) throw error
      countIn.onAlone?.(error as Error)
      return call(local)
    }
  }
  const names = windows.map(({ seconds }) => nameOf(seconds))
  const policyHeader = windows.map(({ requests, seconds }, i) => `"${names[i]}";q=${requests};w=${seconds}`)

  const headers = (states: readonly RateLimiterRes[]): LimitHeaders => ({
    'RateLimit-Policy': policyHeader.join(', '),
    RateLimit: states
      .map(({ remainingPoints, msBeforeNext }, i) => {
        const seconds = Math.ceil(msBeforeNext / 1000)
        return `"${names[i]}";r=${remainingPoints};t=${seconds}`
      })
      .join(', '),
  })

  return {
    async consume(who) {
      const states: RateLimiterRes[] = []
      for (const [i, limiter] of limiters.entries()) {
        try {
          states.push(await ask(limiter, (each) => each.consume(who)))
        } catch (state) {
          if (!(state instanceof RateLimiterRes)) throw state
          throw exceeded(names[i] as string, state, headers([...states, state]))
        }
      }
      return headers(states)
    },
    async giveBack(who) {
      for (const limiter of limiters) await ask(limiter, (each) => each.reward(who))
    },
  }
}

/** @throws Error when a call takes too long */
async function inTime<T>(call: Promise<T>, timeoutMs: number): Promise<T> {
  const waiting = new AbortController()
  const tooLate = wait(timeoutMs, undefined, { signal: waiting.signal }).then(async () => {
    // A process that was busy runs its timers before it reads the data that arrived meanwhile.
    await pendingAnswers()
    throw new Error(`no answer within ${timeoutMs} ms`)
  })
  try {
    return await Promise.race([call, tooLate])
  } finally {
    waiting.abort()
  }
}

function onceAMinute(tell: CountIn['onAlone']): CountIn['onAlone'] {
  let toldAt = Number.NEGATIVE_INFINITY
  return (why) => {
    if (Date.now() - toldAt < 60_000) return
    toldAt = Date.now()
    tell?.(why)
  }
}

function sharedLimiter(
  options: { keyPrefix: string; points: number; duration: number },
  { redis, database }: CountIn,
): RateLimiterStoreAbstract | undefined {
  if (redis) return new RateLimiterRedis({ ...options, storeClient: redis, useRedisPackage: false })
  // Maintenance deletes expired rows: the library's own timer would run a query for each limiter.
  if (database)
    return new RateLimiterDrizzle({
      ...options,
      storeClient: database,
      schema: rateLimits,
      clearExpiredByTimeout: false,
    })
  return undefined
}

const exceeded = (name: string, { msBeforeNext }: RateLimiterRes, headers: LimitHeaders): MemoryError =>
  new MemoryError(
    `too many requests: the limit of ${spanOf[name] ?? name} is reached, try again in ${Math.ceil(msBeforeNext / 1000)} seconds`,
    MemoryErrorCode.RATE_LIMITED,
    { retryAfterMs: msBeforeNext, details: { policies: [name], headers } },
  )

/** The name of a window in a sentence; a window of any other length is named by its seconds. */
const spanOf: Record<string, string> = { minute: 'a minute', hour: 'an hour', day: 'a day' }

const nameOf = (seconds: number): string =>
  ({ 60: 'minute', 3600: 'hour', 86400: 'day' })[seconds] ?? `${seconds}s`
