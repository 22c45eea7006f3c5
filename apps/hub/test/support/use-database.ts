import type { Database } from '@recall/store-postgres'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Engine, emptyTables } from './open-hub.ts'

/** The database of a group of tests: opened before the first of them, empty before each. */
export function useDatabase(open: () => Promise<Engine>): () => Database {
  let engine: Engine | undefined
  const database = (): Database => {
    if (!engine) throw new Error('the database is open while tests run, not before')
    return engine.database
  }
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine?.close())
  beforeEach(() => emptyTables(database()))
  return database
}
