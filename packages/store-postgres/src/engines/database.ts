import { entityKind, fillPlaceholders, type SQL } from 'drizzle-orm'
import { type PgDatabase, PgDialect, type PgQueryResultHKT } from 'drizzle-orm/pg-core'

/** A drizzle database of any driver, or a transaction of one. */
// biome-ignore lint/suspicious/noExplicitAny: the schema that relational queries would need plays no part here
export type Database = PgDatabase<PgQueryResultHKT, any, any>

/** The rows of a statement; drivers wrap them differently. */
export async function rowsOf<Row>(database: Database, statement: SQL): Promise<Row[]> {
  const result = (await database.execute(statement)) as Row[] | { rows: Row[] }
  return Array.isArray(result) ? [...result] : result.rows
}

/** What we need from both drivers, because with drizzle neither can keep a prepared statement. */
interface Driver {
  /** A pool of postgres.js. */
  unsafe?<Row>(text: string, values: unknown[], options: { prepare: boolean }): Promise<Row[]>
  /** PGlite. */
  query?<Row>(text: string, values: unknown[]): Promise<{ rows: Row[] }>
}

/** Whether a database, or the database of a transaction, is inside this process: nobody else can open it. */
export const isEmbedded = (database: Database): boolean =>
  (database.constructor as unknown as { [entityKind]: string })[entityKind].startsWith('Pglite')

const dialect = new PgDialect()

/**
 * Prepares a frequent statement: its text is built once, and the server parses it once for each connection and answers
 * in one round trip instead of two. It lives as long as the connection, so there must be only a few such statements;
 * values that vary go into placeholders.
 *
 * @returns a function that runs the statement on its own connection, outside of transactions
 */
export function prepared<Row>(
  statement: SQL,
): (database: Database, values?: Record<string, unknown>) => Promise<Row[]> {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  return async (database, values = {}) => {
    const { $client: driver } = database as unknown as { $client?: Driver }
    const filled = fillPlaceholders(params, values)
    if (driver?.unsafe) return [...(await driver.unsafe<Row>(text, filled, { prepare: true }))]
    if (driver?.query) return (await driver.query<Row>(text, filled)).rows
    throw new TypeError('a prepared statement needs a database, not a transaction of one')
  }
}
