import { type SQL, sql } from 'drizzle-orm'

/**
 * Condition on a memory: its author repeats in it what an administrator hid. Nobody else finds it, so that it is the
 * original of nothing that others say.
 *
 * @param memory name of the table in the statement
 */
export const repeatsHidden = (memory: string): SQL =>
  sql.raw(`exists (
    select from memories hidden
    where hidden.id = ${memory}.duplicate_of and hidden.quality <= -2 and hidden.agent_id = ${memory}.agent_id
  )`)
