import { type Database, systemConfig } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { type Among, nearestMemories, own } from '../../src/pipelines/nearest.ts'

const ofAgent: Among[] = [
  { where: sql`m.quality = 0 and ${own}`, index: 'good_memories' },
  { where: sql`m.quality < 0 and ${own}` },
]

/** What a search finds among the memories of one agent: the hub's own way to them, under a condition. */
export async function nearestInMemories(
  database: Database,
  vector: readonly number[],
  owner: string,
  limit: number,
): Promise<string[]> {
  const [config] = await database.select({ model: systemConfig.embeddingModel }).from(systemConfig)
  const values = { agent: owner, model: config?.model ?? '' }
  const [found] = await nearestMemories({ among: ofAgent, candidates: limit })(database, vector, values)
  return (found?.memories ?? []).map(({ id }) => id)
}
