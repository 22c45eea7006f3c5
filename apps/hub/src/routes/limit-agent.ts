import type { Context, MiddlewareHandler } from 'hono'
import type { Action, LimitHeaders } from '../access/rate-limits.ts'
import type { Hub, HubEnv } from '../hub.ts'

/**
 * Counts a request of the caller; its answer says how many are left.
 *
 * @throws MemoryError RATE_LIMITED when the caller's tier allows no more of them for now
 */
export async function limitAgent(
  { limits }: Pick<Hub, 'limits'>,
  context: Context<HubEnv>,
  action: Action,
): Promise<void> {
  const { tier, id } = context.get('principal')
  show(context, await limits.ofAgent(tier, action, id))
}

function show(context: Context, headers: LimitHeaders): void {
  for (const [name, value] of Object.entries(headers)) context.header(name, value)
}

/** Counts a request before looking at it: a refused request is a request, too. */
export const counting =
  (hub: Pick<Hub, 'limits'>, action: Action): MiddlewareHandler<HubEnv> =>
  async (context, next) => {
    await limitAgent(hub, context, action)
    await next()
  }

/** Like `counting`, under a limit that is the same for all tiers. */
export const countingAlike = (count: (agent: string) => Promise<LimitHeaders>): MiddlewareHandler<HubEnv> =>
  countingBy((context) => count(context.get('principal').id))

/** Like `counting`, by any key that tells callers apart. */
export const countingBy =
  (count: (context: Context<HubEnv>) => Promise<LimitHeaders>): MiddlewareHandler<HubEnv> =>
  async (context, next) => {
    show(context, await count(context))
    await next()
  }
