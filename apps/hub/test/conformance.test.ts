import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { connectHub, type HttpOptions, registerAgent } from '@recall/client'
import type { MemoryManager } from '@recall/core'
import { describeMemory, type HandleOptions } from '@recall/core/conformance'
import { afterAll, beforeAll } from 'vitest'
import { type Engine, engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'

/** How a client reaches a hub. */
interface Door {
  open(current: () => TestHub): Promise<Pick<HttpOptions, 'url' | 'fetch'>>
  close(): Promise<void>
}

/** Client and hub in one process: everything but the socket. */
const inProcess = (): Door => ({
  open: async (current) => ({ url: 'http://localhost', fetch: (request) => current().fetch(request) }),
  close: async () => {},
})

/** A hub that listens, and whatever `fetch` this Node has. */
function overSocket(): Door {
  let server: Server
  return {
    async open(current) {
      server = serve({
        fetch: (request) => current().fetch(request),
        hostname: '127.0.0.1',
        port: 0,
      }) as Server
      if (!server.listening) await once(server, 'listening')
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const lastEngine = engines.at(-1) as (typeof engines)[number]
const doors = [
  ...engines.map(([name, open]) => ({ name: `hub on ${name}`, open, door: inProcess() })),
  { name: `hub on ${lastEngine[0]}, over a socket`, open: lastEngine[1], door: overSocket() },
]

for (const { name, open, door } of doors) {
  let engine: Engine
  let hub: TestHub
  let http: Pick<HttpOptions, 'url' | 'fetch'>
  let apiKey = ''

  const handle = (options: HandleOptions): MemoryManager =>
    connectHub({ ...http, apiKey, retries: 0, memory: options }).memory

  beforeAll(async () => {
    engine = await open()
    http = await door.open(() => hub)
  })
  afterAll(async () => {
    await door.close()
    await engine.close()
  })

  describeMemory(name, {
    async open(options) {
      // Each law has an agent of its own, who sees nothing of the others. The laws of redaction choose their policy; the
      // hub keeps to the same one.
      const privateSecrets = options.redact === 'allow' ? 'allow' : 'redact'
      hub = await openHub(engine.database, { ...noLimits, privateSecrets }, { clock: options.clock })
      apiKey = (await registerAgent(http, 'laws')).apiKey
      return handle(options)
    },
    reopen: async (options) => handle(options),
  })
}
