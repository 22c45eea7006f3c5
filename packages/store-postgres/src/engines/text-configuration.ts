import { MemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { storeSettings } from '../schema/entries.ts'
import { type Database, rowsOf } from './database.ts'
import { asMemoryErrors } from './postgres-errors.ts'

/**
 * Records the text search configuration of a database. A store with another one would silently find nothing.
 *
 * @param textConfiguration a text search configuration of Postgres; `null` for core's own splitting
 * @throws MemoryError CONFLICT when entries were written with another one; INVALID_INPUT when the server does not
 * have it; TIMEOUT or UNAVAILABLE when it does not answer
 */
export const keepTextConfiguration = (database: Database, textConfiguration: string | null): Promise<void> =>
  asMemoryErrors(MemoryErrorCode.UNAVAILABLE, () => keep(database, textConfiguration))

async function keep(database: Database, textConfiguration: string | null): Promise<void> {
  if (textConfiguration !== null) {
    const [known] = await rowsOf(
      database,
      sql`select from pg_ts_config where cfgname = ${textConfiguration} and pg_ts_config_is_visible(oid)`,
    )
    if (!known) {
      throw new MemoryError(
        `this server has no text search configuration '${textConfiguration}': \\dF in psql lists them`,
        MemoryErrorCode.INVALID_INPUT,
      )
    }
  }
  await database.insert(storeSettings).values({ textConfiguration }).onConflictDoUpdate({
    target: storeSettings.only,
    set: { textConfiguration },
    setWhere: sql`not exists (select from entries)`,
  })
  const [kept] = await database.select().from(storeSettings)
  if ((kept?.textConfiguration ?? null) === textConfiguration) return
  throw new MemoryError(
    `the texts of this database are split by ${kept?.textConfiguration ?? 'the default'}: open it with that textConfiguration`,
    MemoryErrorCode.CONFLICT,
  )
}
