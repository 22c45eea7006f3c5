import { type Database, systemConfig } from '@recall/store-postgres'
import { nearestMemories, own } from '../src/pipelines/nearest.ts'

/** What a search finds among the memories of one agent: the hub's own way to them, under a condition. */
export async function nearestInMemories(
  database: Database,
  vector: readonly number[],
  owner: string,
  limit: number,
): Promise<string[]> {
  const [config] = await database.select({ model: systemConfig.embeddingModel }).from(systemConfig)
  const values = { agent: owner, model: config?.model ?? '' }
  const [found] = await nearestMemories({ allowed: own, candidates: limit })(database, vector, values)
  return (found?.memories ?? []).map(({ id }) => id)
}
