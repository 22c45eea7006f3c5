import { memoryScopes } from '@recall/core'
import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from './address.ts'

/**
 * How many bytes a tenant holds in these namespaces, in all scopes and their archives: everything that is sent to be
 * kept, as for the quotas of a store.
 */
export async function heldBytes(
  database: Database,
  tenant: string,
  namespaces: readonly string[],
): Promise<number> {
  const places = namespaces.flatMap((namespace) =>
    memoryScopes.flatMap((scope) =>
      [false, true].map((archived) => placeId({ namespace, scope }, { tenant, archived })),
    ),
  )
  const [sum] = await rowsOf<{ held: number }>(
    database,
    sql`
      select coalesce(sum(held), 0)::float8 as held from place_sizes
      where place in (select jsonb_array_elements_text(${JSON.stringify(places)}::text::jsonb)::uuid)`,
  )
  return sum?.held ?? 0
}
