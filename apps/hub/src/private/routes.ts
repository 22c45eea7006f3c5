import { createRoute, z } from '@hono/zod-openapi'
import {
  type Change,
  type ColdStore,
  everything,
  findWhenSure,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  memoryScopes,
  parseFilter,
  type StoreQuery,
} from '@recall/core'
import { agents, createPostgresStore, type PostgresStore, privateNamespaces } from '@recall/store-postgres'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { agentDisabled } from '../access/principal.ts'
import type { Hub } from '../hub.ts'
import { newRoutes } from '../routes/app.ts'
import { answers, jsonBody, keyed } from '../routes/describe.ts'
import { countingAlike } from '../routes/limit-agent.ts'
import { entryFromWire } from './private-entries.ts'
import { refuseManyParts } from './refuse-many-parts.ts'
import { createTotalQuota } from './total-quota.ts'
import * as wire from './wire.ts'

/** The context of one call. */
interface Call {
  store: PostgresStore
  /** The store, or its archive. */
  shelf: PostgresStore | ColdStore
  place: { namespace: string; scope: MemoryScope }
  now: number
  hub: Hub
  agent: string
  /** @throws MemoryError QUOTA_EXCEEDED when all namespaces of the agent together hold too much */
  refuseBeyondTotal(agent: string): Promise<void>
}

const operation = <
  Schema extends z.ZodType<{ namespace: string; archived: boolean; now?: number | undefined }>,
  Answer extends z.ZodType<object>,
>(
  summary: string,
  schema: Schema,
  answer: Answer,
  run: (call: Call, input: z.infer<Schema>) => Promise<z.infer<Answer>>,
) => ({ summary, schema, answer, run: run as (call: Call, input: unknown) => Promise<object> })

/** The operations of a store, by the last part of their path. */
const operations = {
  put: operation('Keep an entry', wire.putSchema, wire.done, async (call, { entry, overwrite }) => {
    const kept = entryFromWire(call.hub, call.place, entry, call.now)
    refuseManyParts(call.hub, [kept])
    await noteNamespace(call)
    await withinQuota(call, () => call.shelf.put(kept, { overwrite, now: call.now }))
    return { success: true as const }
  }),
  get: operation('Read an entry', wire.getSchema, wire.gotten, async ({ shelf, place, now }, { key }) => ({
    entry: await shelf.get({ ...place, key }, now),
  })),
  'get-many': operation(
    'Read several entries',
    wire.getManySchema,
    wire.gottenMany,
    async ({ shelf, place, now }, { keys }) => ({
      entries: await Promise.all(keys.map((key) => shelf.get({ ...place, key }, now))),
    }),
  ),
  find: operation('Search entries', wire.findSchema, wire.found, async (call, input) => {
    const { shelf, place, now, hub, agent } = call
    const { text, filters, filter, embedding, passages, tags = [], sortBy } = input
    const { limit, offset, sortOrder, minScore, minConfidence } = input
    const query: StoreQuery = {
      ...place,
      ...(text?.trim() ? { text } : {}),
      ...(embedding ? { embedding } : {}),
      ...(passages ? { passages } : {}),
      filter: { kind: 'all', filters: [filter ?? everything, parseFilter(filters)] },
      tags,
      sortBy: sortBy ?? (text?.trim() || embedding ? 'relevance' : 'recency'),
      sortOrder,
      limit,
      offset,
      minScore,
      now,
    }
    return {
      found: await findWhenSure((each) => hub.searchOf(agent, () => shelf.find(each)), query, minConfidence),
    }
  }),
  touch: operation(
    'Record an access',
    wire.touchSchema,
    wire.done,
    async ({ store, place, now }, { keys }) => {
      await store.touch(
        keys.map((key) => ({ ...place, key })),
        now,
      )
      return { success: true as const }
    },
  ),
  remove: operation(
    'Remove an entry',
    wire.addressSchema,
    wire.removed,
    async ({ shelf, place }, { key }) => ({
      removed: await shelf.remove({ ...place, key }),
    }),
  ),
  'remove-all': operation(
    'Remove entries',
    wire.removeAllSchema,
    wire.counted,
    async ({ shelf, place }, input) => {
      const { updatedBefore, tags, type } = input
      const removed = await shelf.removeAll({
        ...place,
        ...(updatedBefore === undefined ? {} : { updatedBefore }),
        ...(tags === undefined ? {} : { tags }),
        ...(type === undefined ? {} : { type }),
      })
      return { removed }
    },
  ),
  commit: operation(
    'Change entries together, all or none',
    wire.commitSchema,
    wire.done,
    async (call, { changes }) => {
      const { place, now, hub } = call
      const made = changes.map((change): Change => {
        const expected = change.expected
          ? { expected: change.expected as NonNullable<Change['expected']> }
          : {}
        if (!change.put) return { remove: { ...place, key: change.remove as string }, ...expected }
        const put = entryFromWire(hub, place, change.put, now)
        return { put, options: { overwrite: change.overwrite, now }, ...expected }
      })
      const kept = made.flatMap((change) => ('put' in change ? change.put : []))
      refuseManyParts(hub, kept)
      if (kept.length > 0) await noteNamespace(call)
      await withinQuota(call, () => call.shelf.commit(made))
      return { success: true as const }
    },
  ),
  sweep: operation(
    'Remove what has expired',
    wire.sweepSchema,
    wire.counted,
    async ({ shelf, place, now }, { dryRun }) => ({
      removed: await shelf.sweep({ ...place, now, dryRun }),
    }),
  ),
  archive: operation(
    'Move what is old to the archive',
    wire.archiveSchema,
    wire.archived,
    async (call, { before, dryRun, limit }) => {
      if (!dryRun) await refuseDisabled(call)
      const selection = { ...call.place, before, now: call.now, dryRun, limit }
      return withinQuota(call, () => call.store.cold.archive(selection), call.store.cold)
    },
  ),
  restore: operation(
    'Move an entry back from the archive',
    wire.restoreSchema,
    wire.restored,
    async (call, { key }) => {
      await refuseDisabled(call)
      const restore = () => call.store.cold.restore({ ...call.place, key }, call.now)
      return { restored: await withinQuota(call, restore, call.store) }
    },
  ),
  stats: operation('How much is kept', wire.statsSchema, wire.stats, async ({ store, place }) =>
    store.stats(place),
  ),
  stamp: operation(
    'What changes with every write',
    wire.stampSchema,
    wire.stamped,
    async ({ store, place }, { key }) => ({
      stamp: (await store.stamp?.({ ...place, key })) ?? null,
    }),
  ),
}

/**
 * Routes for each agent's private memory. The key alone decides whose memory it is: no input can name another agent.
 */
export function privateRoutes(hub: Hub) {
  const routes = newRoutes()
  const refuseBeyondTotal = createTotalQuota(hub)
  for (const [name, { summary, schema, answer, run }] of Object.entries(operations)) {
    routes.openapi(
      createRoute({
        method: 'post',
        path: `/private/{scope}/${name}`,
        summary,
        security: keyed,
        middleware: countingAlike(hub.limits.ofPrivate),
        request: { params: z.object({ scope: z.enum(memoryScopes) }), body: jsonBody(schema) },
        responses: answers(200, answer, 'Done'),
      }),
      async (context) => {
        const { id } = context.get('principal')
        const input = context.req.valid('json') as z.infer<typeof wire.placeSchema> & { now?: number }
        const store = createPostgresStore(hub.database, {
          tenant: id,
          timeoutMs: hub.config.databaseTimeoutMs,
          quotas: hub.config.privateBytes,
          answerBytes: bodiesInAnswer * hub.config.maxBody,
          ...(hub.config.textConfiguration ? { textConfiguration: hub.config.textConfiguration } : {}),
        })
        const shelf = input.archived ? store.cold : store
        const place = { namespace: input.namespace, scope: context.req.valid('param').scope }
        const now = input.now ?? hub.clock()
        const made = await run({ store, shelf, place, now, hub, agent: id, refuseBeyondTotal }, input)
        return context.json(made as never, 200)
      },
    )
  }
  return routes
}

/** How many entries that each fill a body one answer may hold: they are in memory together. */
const bodiesInAnswer = 4

/**
 * Runs a write. If the quota has no room for it, expired entries are removed first, which count until then.
 *
 * @param shelf the shelf that grows
 * @throws MemoryError QUOTA_EXCEEDED, reworded for the agent: it names the scope and its quota
 */
async function withinQuota<T>(call: Call, write: () => Promise<T>, shelf = call.shelf): Promise<T> {
  const { place, now, hub } = call
  try {
    return await write()
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.QUOTA_EXCEEDED)) throw error
    if ((await shelf.sweep({ ...place, now, dryRun: false })) > 0) return withinQuota(call, write, shelf)
    const quota = hub.config.privateBytes[place.scope]
    const full = `${shelf === call.store ? '' : 'archive of the '}${place.scope} memory`
    throw new MemoryError(
      `the ${full} of this agent may hold ${quota} bytes of values, texts, tags and vectors in each namespace, and these would not fit: delete or clean up there first`,
      MemoryErrorCode.QUOTA_EXCEEDED,
      { scope: place.scope },
    )
  }
}

/**
 * @throws MemoryError FORBIDDEN for a disabled agent: another process may still know its key, and an administrator may
 * be deleting its memory, into which nothing may be moved then
 */
async function refuseDisabled({ hub, agent }: Call): Promise<void> {
  const isEnabled = and(eq(agents.id, agent), isNull(agents.disabledAt))
  if ((await hub.call(() => hub.database.$count(agents, isEnabled))) === 0) throw agentDisabled()
}

/** First key of the advisory lock on the namespaces of an agent; any number not used otherwise. */
const namespaceLock = 727_004

/**
 * Registers the namespace of a first write. Maintenance may free it before that write arrives: the next one registers
 * it again, even beyond the limit.
 *
 * @throws MemoryError QUOTA_EXCEEDED when the agent already has as many namespaces as it may have, or they hold too
 * much together; FORBIDDEN when it was disabled: another process may still know its key, and an administrator may just
 * have deleted its memory
 */
async function noteNamespace({ hub, store, agent, place, refuseBeyondTotal }: Call): Promise<void> {
  const { database, config } = hub
  const { namespace, scope } = place
  const isNoted = and(
    eq(privateNamespaces.agentId, agent),
    eq(sql`md5(${privateNamespaces.namespace})`, sql`md5(${namespace})`),
  )
  const [writer] = await hub.call(() =>
    database
      .select({ isNoted: sql<boolean>`exists (select from ${privateNamespaces} where ${isNoted})` })
      .from(agents)
      .where(and(eq(agents.id, agent), isNull(agents.disabledAt))),
  )
  if (!writer) throw agentDisabled()
  await refuseBeyondTotal(agent)
  if (writer.isNoted) return
  const isUsed = (await store.stats(place)).entries > 0
  const noted = await hub.call(() =>
    database.transaction(async (transaction) => {
      // One write of an agent at a time, so that many concurrent ones do not all find the last place free.
      await transaction.execute(sql`select pg_advisory_xact_lock(${namespaceLock}, hashtext(${agent}))`)
      const count = await transaction.$count(privateNamespaces, eq(privateNamespaces.agentId, agent))
      if (count >= config.privateNamespaces && !isUsed)
        return (await transaction.$count(privateNamespaces, isNoted)) > 0
      await transaction.insert(privateNamespaces).values({ agentId: agent, namespace }).onConflictDoNothing()
      return true
    }),
  )
  if (noted) return
  throw new MemoryError(
    `this agent has memories in ${config.privateNamespaces} namespaces, which is the limit: keep new ones in one of those`,
    MemoryErrorCode.QUOTA_EXCEEDED,
    { scope },
  )
}
