import { type Database, rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'

/**
 * The tables of a backup, in the order of their foreign keys. Two tables are left out: triggers rebuild
 * `place_sizes`, and the counters in `rate_limits` soon expire.
 */
export const tables = [
  'store_settings',
  'system_config',
  'agents',
  'memories',
  'memory_links',
  'retrieval_events',
  'citations',
  'vouches',
  'idempotency_keys',
  'private_namespaces',
  'entries',
  'units',
] as const

export type Table = (typeof tables)[number]

/** The first line of a backup. */
export interface Header {
  format: typeof format
  version: typeof version
  /** The version of the tables, see `schemaOf`. */
  schema: string
}

export const format = 'recall-hub-backup'
export const version = 1

/** A prefix of the hash of the last migration that ran. */
export async function schemaOf(database: Database): Promise<string> {
  const [row] = await rowsOf<{ hash: string }>(
    database,
    sql`select left(hash, 16) as hash from drizzle.__drizzle_migrations order by created_at desc limit 1`,
  )
  return row?.hash ?? ''
}
