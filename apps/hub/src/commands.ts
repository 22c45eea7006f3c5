import { agents, type Database, type ReembedProgress, reembed } from '@recall/store-postgres'
import { hashOfKey, newApiKey } from './auth/keys.ts'
import { backup, restore } from './backup.ts'
import type { HubConfig } from './config/config.ts'
import { createHub } from './create-hub.ts'
import { examine } from './doctor.ts'
import { openDatabase, openDependencies } from './open-dependencies.ts'

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

/**
 * Moves what agents share to the model that is configured now. Vectors of private memories are the agents' own: they
 * came with the entries, and are compared by the same agents with others of that model.
 */
export async function reembedAll(config: HubConfig, print: Print): Promise<void> {
  const { database, embedder, close } = await openDependencies(config, () => {})
  try {
    let told = 0
    const onProgress = ({ done, total }: ReembedProgress): void => {
      const percent = Math.floor((100 * done) / total)
      if (percent > told) print(`memories: ${done} of ${total}, ${percent} %\n`)
      told = percent
    }
    const made = await reembed(database, 'memories', embedder, { onProgress })
    print(`memories: ${made} embedded again with ${embedder.model}\n`)
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

/** Whether the hub is in order; the exit code says so too. */
export async function doctor(config: HubConfig, print: Print): Promise<boolean> {
  const { close, ...dependencies } = await openDependencies(config, () => {}, { lookOnly: true })
  try {
    // The connection to Redis is made in the background.
    await new Promise<void>((resolve) => {
      if (!dependencies.redis || dependencies.redis.status === 'ready') return resolve()
      dependencies.redis.once('ready', () => resolve()).once('error', () => resolve())
    })
    const findings = await examine(config, dependencies)
    for (const { check, ok, says } of findings) print(`${ok ? 'ok  ' : 'FAIL'} ${check}: ${says}\n`)
    return findings.every(({ ok }) => ok)
  } finally {
    await close()
  }
}

export async function backUp(config: HubConfig, path: string, print: Print): Promise<void> {
  await withDatabase(config, async (database) => print(`${JSON.stringify(await backup(database, path))}\n`))
}

export async function restoreFrom(config: HubConfig, path: string, print: Print): Promise<void> {
  await withDatabase(config, async (database) => print(`${JSON.stringify(await restore(database, path))}\n`))
}

async function withDatabase(config: HubConfig, run: (database: Database) => Promise<void>): Promise<void> {
  const { database, close } = await openDatabase(config)
  try {
    await run(database)
  } finally {
    await close()
  }
}
