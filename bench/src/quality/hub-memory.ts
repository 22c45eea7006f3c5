import { connectHub, registerAgent } from '@recall/client'
import type { MemoryManager, MemoryManagerOptions } from '@recall/core'
import { openPglite } from '@recall/store-postgres/pglite'
import { noLimits, openHub } from '../../../apps/hub/test/support/open-hub.ts'

/** An agent's own memory in a hub that runs in this process, on an embedded database: everything but the socket. */
export async function openHubMemory(options: Omit<MemoryManagerOptions, 'stores'>): Promise<MemoryManager> {
  const { database, close } = await openPglite({})
  const hub = await openHub(database, { ...noLimits, privateSecrets: 'allow' })
  const door = { url: 'http://localhost', fetch: (request: Request) => Promise.resolve(hub.fetch(request)) }
  const { apiKey } = await registerAgent(door, 'quality')
  const { memory } = connectHub({ ...door, apiKey, retries: 0, memory: options })
  return {
    ...memory,
    async close() {
      await memory.close()
      await close()
    },
  }
}
