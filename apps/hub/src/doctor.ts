import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { asMemoryErrors, pendingMigrations, rowsOf, vectorIndexNames } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { Redis } from 'ioredis'
import type { HubConfig } from './config/config.ts'
import type { Dependencies } from './open-dependencies.ts'
import { embedText } from './pipelines/embed.ts'

export interface Finding {
  check: string
  ok: boolean
  /** What was found and, for a failed check, what to do. */
  message: string
}

/** Checks everything that a hub depends on. Changes nothing. */
export async function examine(
  config: HubConfig,
  { database, embedder, redis }: Pick<Dependencies, 'database' | 'embedder' | 'redis'>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const check = async (name: string, look: () => Promise<Omit<Finding, 'check'>>): Promise<void> => {
    try {
      findings.push({ check: name, ...(await look()) })
    } catch (error) {
      const message = isMemoryError(error) ? error.message : `failed: ${(error as Error).name}`
      findings.push({ check: name, ok: false, message })
    }
  }
  const ask = <T>(call: () => Promise<T>): Promise<T> => asMemoryErrors(MemoryErrorCode.UNAVAILABLE, call)
  const one = async <Row>(statement: SQL): Promise<Row> =>
    (await ask(() => rowsOf<Row>(database, statement)))[0] as Row

  await check('database', async () => {
    const { server, vector, installed } = await one<{
      server: string
      vector: string | null
      installed: boolean
    }>(sql`
      select current_setting('server_version') as server,
        (select extversion from pg_extension where extname = 'vector') as vector,
        exists (select from pg_available_extensions where name = 'vector') as installed`)
    const missing = installed
      ? 'not made yet: a hub makes it when it starts'
      : 'missing: install it on the server'
    const message = `PostgreSQL ${server}, pgvector ${vector ?? missing}${config.postgresUrl ? '' : ', embedded'}`
    return { ok: vector !== null, message }
  })
  await check('tables', async () => {
    const pending = await ask(() => pendingMigrations(database))
    return pending === 0
      ? { ok: true, message: 'up to date' }
      : {
          ok: false,
          message: `${pending} migrations are pending: a hub of this version runs them when it starts`,
        }
  })
  await check('vector index', async () => {
    const { dimensions } = embedder
    const names = (['memories', 'units'] as const).flatMap((table) => vectorIndexNames({ table, dimensions }))
    const { valid } = await one<{ valid: number }>(sql`
      select count(*)::int as valid from pg_index join pg_class on pg_class.oid = indexrelid
      where indisvalid and relname in ${names}`)
    return valid === names.length
      ? { ok: true, message: `${dimensions} dimensions` }
      : { ok: false, message: 'missing or not valid: a hub makes it when it starts' }
  })
  await check('embedding provider', async () => {
    await embedText({ embedder, config }, 'Is anybody there?', 'query')
    const isFake = embedder.model.startsWith('fake')
    return { ok: true, message: isFake ? `${embedder.model}, which ignores meaning` : embedder.model }
  })
  await check('vectors', async () => {
    const { others, waiting } = await one<{ others: number; waiting: number }>(sql`
      select (select count(*)::int from memories where embedding is not null and embedding_model <> ${embedder.model}) as others,
        (select count(*)::int from memories where embedding is null and deleted_at is null) as waiting`)
    if (others > 0) return { ok: false, message: `${others} memories are of another model: run reembed` }
    const isLate = waiting > 0 && !config.embedAsync
    return {
      ok: !isLate,
      message: isLate
        ? `${waiting} memories wait for a vector and embedAsync is off: run maintenance`
        : `all made, ${waiting} in the queue`,
    }
  })
  await check('writes', async () => {
    const { standby, refused } = await one<{ standby: boolean; refused: boolean }>(sql`
      select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as refused`)
    if (standby)
      return { ok: false, message: 'refused by Postgres, a standby: give the hub the URL of the primary' }
    if (refused)
      return {
        ok: false,
        message:
          'refused by Postgres, which is read-only: its disk may be full, or default_transaction_read_only is on',
      }
    const { writable, silent } = await one<{ writable: boolean; silent: number }>(sql`
      select global_write_enabled as writable,
        floor(extract(epoch from now() - last_heartbeat_at) / 86400)::int as silent
      from system_config union all select true, 0 limit 1`)
    const left = config.trust.heartbeatDays - silent
    if (!writable || left <= 0)
      return { ok: false, message: 'paused: an administrator confirms with POST /api/v1/admin/heartbeat' }
    return { ok: true, message: `on, for another ${left} days without a heartbeat` }
  })
  await check('administrators', async () => {
    const { count } = await one<{ count: number }>(
      sql`select count(*)::int as count from agents where trust_level = 2 and disabled_at is null`,
    )
    return count > 0
      ? { ok: true, message: String(count) }
      : { ok: false, message: 'none: make one with "admin create <name>"' }
  })
  if (redis) {
    await check('redis', async () => {
      try {
        await connected(redis)
        await redis.ping()
        return { ok: true, message: 'answers' }
      } catch (error) {
        const why = (error as Error).message
        return {
          ok: false,
          message: `does not answer (${why}): each hub counts requests for itself until it does`,
        }
      }
    })
  }
  return findings
}

/** Redis connects in the background: resolves when it has connected, and rejects when it has failed. */
const connected = (redis: Redis): Promise<void> =>
  new Promise((resolve, reject) => {
    if (redis.status === 'ready') resolve()
    else redis.once('ready', resolve).once('error', reject)
  })
