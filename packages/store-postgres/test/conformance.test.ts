import { randomUUID } from 'node:crypto'
import { createMemoryManager, type MemoryManager, type MemoryStore } from '@recall/core'
import { describeMemory, type HandleOptions } from '@recall/core/conformance'
import { afterAll, beforeAll } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, engines } from './support/engines.ts'

/**
 * One database serves all laws: each is a tenant, who sees nothing of the others, and every handle has a store of its
 * own.
 */
for (const [name, open] of engines) {
  let engine: Engine
  let tenant: string
  const handle = (options: HandleOptions): MemoryManager =>
    createMemoryManager({
      stores: createPostgresStore(engine.database, { tenant }) as MemoryStore,
      ...options,
    })

  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  describeMemory(name, {
    async open(options) {
      tenant = randomUUID()
      return handle(options)
    },
    reopen: async (options) => handle(options),
  })
}
