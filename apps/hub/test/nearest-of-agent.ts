import type { Database } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { nearestMemories } from '../src/pipelines/nearest.ts'

/** What a search finds among the memories of one agent: the hub's own way to them, under a condition. */
export async function nearestInMemories(
  database: Database,
  vector: readonly number[],
  owner: string,
  limit: number,
): Promise<string[]> {
  const found = await nearestMemories(database, vector, sql`m.agent_id = ${owner}::uuid`, limit)
  return found.map(({ id }) => id)
}
