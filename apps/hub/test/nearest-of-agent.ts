import type { Database } from '@recall/store-postgres'
import { nearestMemories, own } from '../src/pipelines/nearest.ts'

/** What a search finds among the memories of one agent: the hub's own way to them, under a condition. */
export async function nearestInMemories(
  database: Database,
  vector: readonly number[],
  owner: string,
  limit: number,
): Promise<string[]> {
  const [found] = await nearestMemories({ allowed: own, candidates: limit })(database, vector, {
    agent: owner,
  })
  return (found?.memories ?? []).map(({ id }) => id)
}
