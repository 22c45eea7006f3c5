import { connectHub, registerAgent } from '@recall/client'
import type { MemoryManager } from '@recall/core'
import { describeMemory, type HandleOptions } from '@recall/core/conformance'
import { afterAll, beforeAll } from 'vitest'
import { type Engine, emptyTables, engines, noLimits, openHub, type TestHub } from './support.ts'

/** Client and hub in one process: everything but the socket. */
for (const [name, open] of engines) {
  let engine: Engine
  let hub: TestHub
  let key = ''

  const handle = (options: HandleOptions): MemoryManager =>
    connectHub({ url: 'http://localhost', apiKey: key, fetch: hub.fetch, retries: 0, memory: options }).memory

  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  describeMemory(`hub on ${name}`, {
    async open(options) {
      await emptyTables(engine.database)
      // The laws of redaction choose their policy; the hub keeps to the same one.
      const privateSecrets = options.redact === 'allow' ? 'allow' : 'redact'
      hub = await openHub(engine.database, { ...noLimits, privateSecrets }, { clock: options.clock })
      key = (await registerAgent({ url: 'http://localhost', fetch: hub.fetch }, 'laws')).apiKey
      return handle(options)
    },
    reopen: async (options) => handle(options),
  })
}
