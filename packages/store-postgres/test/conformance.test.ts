import { createMemoryManager, type MemoryManager, type MemoryStore } from '@recall/core'
import { describeMemory, type HandleOptions } from '@recall/core/conformance'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines } from './support.ts'

/** One database serves all laws: each begins with empty tables, and every handle has a store of its own. */
for (const [name, open] of engines) {
  let engine: Engine
  const handle = (options: HandleOptions): MemoryManager =>
    createMemoryManager({ stores: createPostgresStore(engine.database) as MemoryStore, ...options })

  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  describeMemory(name, {
    async open(options) {
      await emptyTables(engine.database)
      return handle(options)
    },
    reopen: async (options) => handle(options),
  })
}
