import { MemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { storeSettings } from '../schema/entries.ts'
import { type Database, isEmbedded, rowsOf } from './database.ts'
import { asMemoryErrors } from './postgres-errors.ts'

/**
 * Records the text search configuration of a database. A store with another one would silently find nothing. The first
 * store to open the database decides; for an embedded one, which nobody else can have open, the last store before
 * anything is kept.
 *
 * @param textConfiguration a text search configuration of Postgres; `null` for core's own splitting
 * @throws MemoryError CONFLICT when it was opened, or entries were written, with another one; INVALID_INPUT when the
 * server does not have it; TIMEOUT or UNAVAILABLE when it does not answer
 */
export const keepTextConfiguration = (database: Database, textConfiguration: string | null): Promise<void> =>
  asMemoryErrors(MemoryErrorCode.UNAVAILABLE, () => keep(database, textConfiguration))

/** Stands for core's own splitting; `null` means that nobody has decided yet. */
const own = ''

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
  const wanted = textConfiguration ?? own
  // Entries that were kept before anybody decided were split by core.
  const decided = sql`case when exists (select from entries) then ${own}::text else ${wanted}::text end`
  await database
    .insert(storeSettings)
    .values({ textConfiguration: decided })
    .onConflictDoUpdate({
      target: storeSettings.only,
      set: { textConfiguration: decided },
      setWhere: sql`store_settings.text_configuration is null
        or (${isEmbedded(database)}::boolean and not exists (select from entries))`,
    })
  const [kept] = await database.select().from(storeSettings)
  if (kept?.textConfiguration === wanted) return
  throw new MemoryError(
    `the texts of this database are split by ${kept?.textConfiguration || 'the default'}: open it with that textConfiguration; while nothing is kept in it, 'update store_settings set text_configuration = null' lets the next one decide`,
    MemoryErrorCode.CONFLICT,
  )
}
