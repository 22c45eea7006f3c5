import { MemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from './database.ts'
import { codeOf } from './postgres-errors.ts'

const oldestServer = 15
const insufficientPrivilege = '42501'

/** What the first migration creates, and where it comes from. */
const extensions = [
  { name: 'vector', source: 'pgvector 0.8 or newer', oldest: [0, 8] },
  { name: 'btree_gin', source: "Postgres' own contrib modules", oldest: [1, 0] },
  { name: 'pg_trgm', source: "Postgres' own contrib modules", oldest: [1, 0] },
] as const

/**
 * Prepares a database for its first tables. If it is not suitable, the failing statement would not say what to do.
 *
 * @throws MemoryError NOT_SUPPORTED when the server is too old, the database is not in UTF-8, or an extension is
 * missing, too old, or cannot be created by this user
 */
export async function createExtensions(database: Database): Promise<void> {
  await refuseUnfitDatabase(database)
  const offered = await rowsOf<{ name: string; version: string }>(
    database,
    sql`select name, coalesce(installed_version, default_version) as version from pg_available_extensions`,
  )
  for (const { name, source, oldest } of extensions) {
    const version = offered.find((extension) => extension.name === name)?.version
    if (version === undefined || !isAtLeast(version, oldest)) {
      const found = version === undefined ? 'has no extension' : `has ${version} of the extension`
      throw unfit(`the server ${found} ${name}: install ${source} there`)
    }
    await createExtension(database, name)
  }
}

async function refuseUnfitDatabase(database: Database): Promise<void> {
  const [own] = await rowsOf<{ version: number; encoding: string }>(
    database,
    sql`select current_setting('server_version_num')::int / 10000 as version, getdatabaseencoding() as encoding`,
  )
  if (own && own.version < oldestServer) {
    throw unfit(`the server is Postgres ${own.version}: Recall needs ${oldestServer} or newer`)
  }
  if (own && own.encoding !== 'UTF8') {
    throw unfit(
      `the database is in ${own.encoding}, which cannot hold every text: make one with create database <name> encoding 'UTF8' template template0`,
    )
  }
}

async function createExtension(database: Database, name: string): Promise<void> {
  try {
    await database.execute(sql`create extension if not exists ${sql.identifier(name)}`)
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error
    throw unfit(
      `this user of Postgres may not create the extension ${name}: have a superuser run create extension ${name} in this database, once`,
    )
  }
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}

const unfit = (message: string): MemoryError => new MemoryError(message, MemoryErrorCode.NOT_SUPPORTED)
