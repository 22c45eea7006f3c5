import type { SQL } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

/** A drizzle database of any driver, or a transaction of one. */
// biome-ignore lint/suspicious/noExplicitAny: the schema that relational queries would need plays no part here
export type Database = PgDatabase<PgQueryResultHKT, any, any>

/** The rows of a statement; drivers wrap them differently. */
export async function rowsOf<Row>(database: Database, statement: SQL): Promise<Row[]> {
  const result = (await database.execute(statement)) as Row[] | { rows: Row[] }
  return Array.isArray(result) ? [...result] : result.rows
}
