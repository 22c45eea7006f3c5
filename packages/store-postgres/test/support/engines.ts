import type { Entry } from '@recall/core'
import { type Query, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../../src/engines/database.ts'
import { liftTimeLimit } from '../../src/engines/time-limit.ts'
import { type EmbeddedDatabase, openPglite } from '../../src/pglite.ts'
import type { OpenDatabase } from '../../src/postgres.ts'
import { createVectorIndexes } from '../../src/search/vector-index.ts'
import { openServerDatabase, serverUrl } from './server-database.ts'
import { template } from './template.ts'

export type Engine = EmbeddedDatabase | OpenDatabase

const openEmbedded = async (): Promise<Engine> => openPglite({ template: await template() })

/** The engines that tests run on here. */
export const engines: [name: string, open: () => Promise<Engine>][] = [
  ['pglite', openEmbedded],
  ...(serverUrl ? [['postgres', openServerDatabase] as [string, () => Promise<Engine>]] : []),
]

/** An entry of working memory that was written at the instant 1. */
export const plainEntry = (key: string, other: Partial<Entry> = {}): Entry => ({
  namespace: 'default',
  scope: 'working',
  key,
  value: '',
  text: '',
  type: null,
  tags: [],
  createdAt: 1,
  updatedAt: 1,
  accessedAt: 1,
  accessCount: 0,
  ttl: null,
  expiresAt: null,
  encrypted: false,
  embedding: null,
  ...other,
})

export async function emptyTables(database: Database): Promise<void> {
  await database.execute(sql`truncate entries, units, place_sizes`)
}

/** Every session of an engine, those of transactions as well, prepares its statements by this object. */
export const sessionOf = (database: Database): { prepareQuery(...given: unknown[]): unknown } =>
  Object.getPrototypeOf((database as unknown as { session: object }).session)

/** Runs a statement and tells how it was run, a line for each step. */
export async function explained(database: Database, { sql: text, params }: Query): Promise<string[]> {
  const inlined = text.replace(/\$(\d+)/g, (_, n) => literalOf(params[Number(n) - 1]))
  const plan = await rowsOf<{ 'QUERY PLAN': string }>(
    database,
    sql`explain (analyze, costs off, timing off) ${sql.raw(inlined)}`,
  )
  return plan.map((line) => line['QUERY PLAN'])
}

/** Runs a statement and tells how many rows that step of it looked at which looked at most. */
export async function mostLooks(database: Database, query: Query): Promise<number> {
  const looks = (await explained(database, query)).map((line) => {
    const rejected = Number(/Rows Removed by (?:Join )?Filter: (\d+)/.exec(line)?.[1] ?? 0)
    const [, rows = 0, loops = 0] = /\bactual rows=([\d.]+) loops=(\d+)/.exec(line) ?? []
    return Math.max(rejected, Number(rows) * Number(loops))
  })
  return Math.max(...looks)
}

const literalOf = (value: unknown): string =>
  value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`

/** Indexes the vectors of units, however long it takes. */
export async function indexVectors(database: Database, dimensions: number): Promise<void> {
  await database.transaction(async (transaction) => {
    await liftTimeLimit(transaction)
    await createVectorIndexes(transaction, { table: 'units', dimensions }, { concurrently: false })
  })
}
