import type { Context, MiddlewareHandler } from 'hono'
import type { Action } from '../access/rate-limits.ts'
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
  const headers = await limits.ofAgent(tier, action, id)
  for (const [name, value] of Object.entries(headers)) context.header(name, value)
}

/** Counts a request before it is looked at: one that is refused is a request as well. */
export const counting =
  (hub: Pick<Hub, 'limits'>, action: Action): MiddlewareHandler<HubEnv> =>
  async (context, next) => {
    await limitAgent(hub, context, action)
    await next()
  }
