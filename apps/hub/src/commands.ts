import { agents, reembed } from '@recall/store-postgres'
import { hashOfKey, newApiKey } from './auth/keys.ts'
import type { HubConfig } from './config/config.ts'
import { createHub } from './create-hub.ts'
import { openDependencies } from './open-dependencies.ts'

type Print = (text: string) => void

/** The first administrator can be made by whoever has the database, and by nobody else. */
export async function createAdmin(config: HubConfig, name: string, print: Print): Promise<void> {
  const { database, close } = await openDependencies(config, () => {})
  try {
    const key = newApiKey()
    await database.insert(agents).values({ name, apiKeyHash: hashOfKey(key), trustLevel: 2 })
    print(`${key}\n`)
  } finally {
    await close()
  }
}

/** Moves all memories to the model that is configured now. */
export async function reembedAll(config: HubConfig, print: Print): Promise<void> {
  const { database, embedder, close } = await openDependencies(config, () => {})
  try {
    for (const table of ['memories', 'entries'] as const) {
      const made = await reembed(database, table, embedder)
      print(`${table}: ${made} embedded again with ${embedder.model}\n`)
    }
  } finally {
    await close()
  }
}

/** For cron: what a hub does not do by itself. */
export async function maintain(config: HubConfig, print: Print): Promise<void> {
  const { close, ...dependencies } = await openDependencies(config, () => {})
  try {
    const hub = await createHub(config, dependencies)
    print(`${JSON.stringify(await hub.maintain())}\n`)
  } finally {
    await close()
  }
}
