import { MemoryError, MemoryErrorCode } from '@recall/core'
import { prepared, systemConfig } from '@recall/store-postgres'
import { lte, sql } from 'drizzle-orm'
import type { Hub } from '../hub.ts'

/**
 * The dead-man's switch. Every write checks the time of the last heartbeat; no timer is involved, so it works the same
 * with many hubs, and after a month in which none ran.
 *
 * @throws MemoryError FORBIDDEN when writes are paused
 */
export async function refuseWhenReadOnly(hub: Hub): Promise<void> {
  const { writable } = await systemState(hub)
  if (writable) return
  throw new MemoryError(
    'this hub is read-only: its administrators have switched writes off, or have not confirmed their presence for too long',
    MemoryErrorCode.FORBIDDEN,
  )
}

export interface SystemState {
  writable: boolean
  lastHeartbeatAt: string
}

export async function systemState({ database, call, clock, config }: Hub): Promise<SystemState> {
  const oldest = oldestHeartbeat({ clock, config }).toISOString()
  const [state] = await call(() => selectState(database, { oldest }))
  if (!state) throw new MemoryError('the hub is not set up: start it once', MemoryErrorCode.UNAVAILABLE)
  return state
}

/** Writes are paused if the last heartbeat is older than this. */
const oldestHeartbeat = ({ clock, config }: Pick<Hub, 'clock' | 'config'>): Date =>
  new Date(clock() - config.trust.heartbeatDays * 24 * 60 * 60 * 1000)

const selectState = prepared<SystemState>(sql`
  select global_write_enabled and last_heartbeat_at > ${sql.placeholder('oldest')}::text::timestamptz as writable,
    last_heartbeat_at::text as "lastHeartbeatAt"
  from system_config`)

/**
 * Records the pause in the table, where people can see it. A heartbeat that arrives at the same moment is not undone.
 */
export async function pauseWritesWhenSilent(hub: Hub): Promise<boolean> {
  const { call, database } = hub
  await call(() =>
    database
      .update(systemConfig)
      .set({ globalWriteEnabled: false })
      .where(lte(systemConfig.lastHeartbeatAt, oldestHeartbeat(hub))),
  )
  return (await systemState(hub)).writable
}

/** Records a heartbeat of an administrator, and resumes writes. */
export async function confirmHeartbeat({ database, call, clock }: Hub): Promise<void> {
  await call(() =>
    database.update(systemConfig).set({ globalWriteEnabled: true, lastHeartbeatAt: new Date(clock()) }),
  )
}

/** Inserts the one row of settings when it is missing. */
export async function ensureSystemConfig({ database, call, clock }: Hub): Promise<void> {
  await call(() =>
    database
      .insert(systemConfig)
      .values({ lastHeartbeatAt: new Date(clock()) })
      .onConflictDoNothing(),
  )
}
