import { MemoryError, MemoryErrorCode } from '@recall/core'

/** The part of the `node:sqlite` interface that the index uses. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Query
  function(name: string, call: (value: SqlValue) => null): void
  close(): void
}

interface Query {
  get(...parameters: SqlValue[]): unknown
  all(...parameters: SqlValue[]): unknown[]
  iterate(...parameters: SqlValue[]): Iterable<unknown>
}

export interface Statement extends Query {
  run(...parameters: SqlValue[]): void
}

export type SqlValue = null | number | bigint | string | Uint8Array
export type OpenDatabase = (path: string) => Database

/** Prepares each statement once for a database. */
export function createStatements(database: Database): (text: string) => Statement {
  const statements = new Map<string, Statement>()
  return (text) => {
    const known = statements.get(text)
    if (known) return known
    const statement = runnable(database.prepare(text))
    statements.set(text, statement)
    return statement
  }
}

/**
 * A driver's `run` also returns the last row id, and in Node 26 it throws when that is not a safe integer, as after a
 * deletion from a full-text table. `all` does the same and returns only rows.
 */
const runnable = (query: Query): Statement => ({
  run: (...parameters) => void query.all(...parameters),
  get: (...parameters) => query.get(...parameters),
  all: (...parameters) => query.all(...parameters),
  iterate: (...parameters) => query.iterate(...parameters),
})

/**
 * The column `value` of a query, without leaving a statement open. The prebuilt driver finalises statements only when
 * they are garbage-collected, and until then nobody can remove or rename the file on Windows, even when the database is
 * closed.
 */
export function valuesOf(database: Database, query: string): SqlValue[] {
  const values: SqlValue[] = []
  database.function('recall_take', (value) => {
    values.push(value)
    return null
  })
  database.exec(`SELECT recall_take(value) FROM (${query})`)
  return values
}

type DatabaseConstructor = new (path: string) => Database

/** Before this release two connections that write and checkpoint could corrupt a WAL database. */
const oldestSafeSqlite = [3, 51, 3] as const

/**
 * Node's own SQLite if it is stable and recent enough, otherwise a prebuilt one with the same interface. Neither needs
 * a compiler or an install script.
 *
 * @throws MemoryError UNAVAILABLE when neither can be loaded
 */
export async function loadSqlite(): Promise<OpenDatabase> {
  const builtIn = hasSafeBuiltIn() ? process.getBuiltinModule?.('node:sqlite' as 'fs') : undefined
  const { DatabaseSync } = (builtIn ?? (await loadPrebuilt())) as unknown as {
    DatabaseSync: DatabaseConstructor
  }
  return (path) => new DatabaseSync(path)
}

async function loadPrebuilt(): Promise<unknown> {
  try {
    return await import('@photostructure/sqlite')
  } catch (cause) {
    throw new MemoryError(
      '@photostructure/sqlite cannot be loaded: install it, and leave @recall/store-file out of the bundle if there is one. Where it has no binary for the machine, the newest Node 24 needs none',
      MemoryErrorCode.UNAVAILABLE,
      { cause },
    )
  }
}

/** Earlier versions of Node consider their SQLite experimental and print a warning in every process. */
const settledSince = 24

function hasSafeBuiltIn(): boolean {
  if (Number.parseInt(process.versions.node, 10) < settledSince) return false
  const version = process.versions.sqlite?.split('.').map(Number) ?? []
  for (const [i, oldest] of oldestSafeSqlite.entries()) {
    const part = version[i] ?? 0
    if (part !== oldest) return part > oldest
  }
  return version.length > 0
}
