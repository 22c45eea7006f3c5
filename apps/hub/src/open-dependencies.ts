import { resolve } from 'node:path'
import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { cachedEmbedder, fakeEmbedder, httpEmbedder } from '@recall/embeddings'
import { workerEmbedder } from '@recall/embeddings/local'
import {
  createVectorIndexes,
  type Database,
  keepTextConfiguration,
  type VectorColumn,
} from '@recall/store-postgres'
import { isPgliteFolder, openPglite } from '@recall/store-postgres/pglite'
import { openPostgres } from '@recall/store-postgres/postgres'
import { Redis } from 'ioredis'
import type { HubConfig } from './config/config.ts'
import type { Log } from './log.ts'

export interface Dependencies {
  database: Database
  embedder: Embedder
  redis?: Redis
  close(): Promise<void>
}

/**
 * Opens everything that the settings name, and closes it again when a later step fails. Migrates the tables of a
 * server, unless `lookOnly` is set.
 *
 * @param opening.unhurried no request waits: an embedding provider may ask for a longer pause than one would
 */
export async function openDependencies(
  config: HubConfig,
  log: Log,
  { lookOnly = false, mustExist = false, unhurried = false } = {},
): Promise<Dependencies> {
  // Agents repeat questions and resend memories: the cache embeds each text once.
  const embedder = cachedEmbedder(chooseEmbedder(config, unhurried))
  const { dimensions } = embedder
  const indexed = (['memories', 'units'] as const).map((table) => ({ table, dimensions }))
  const closers: (() => unknown)[] = [() => embedder.close?.()]
  const close = async (): Promise<void> => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne()
  }
  try {
    const opened = await openDatabase(config, { indexed, lookOnly, mustExist })
    const { database } = opened
    closers.push(opened.close)
    if (!lookOnly) await keepTextConfiguration(database, config.textConfiguration ?? null)
    const redis = config.redisUrl ? openRedis(config.redisUrl, log) : undefined
    closers.push(() => redis?.disconnect())
    return { database, embedder, ...(redis ? { redis } : {}), close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Opening {
  indexed?: readonly VectorColumn[]
  lookOnly?: boolean
  /**
   * Refuses to make an embedded database: to somebody who inspects or copies a hub, a new one would look like an empty
   * hub.
   */
  mustExist?: boolean
}

/**
 * Opens the database alone. An embedded one has no other user, so it is always migrated.
 *
 * @throws MemoryError NOT_FOUND when an embedded one must exist but does not
 */
export async function openDatabase(
  config: HubConfig,
  { indexed = [], lookOnly = false, mustExist = false }: Opening = {},
) {
  if (config.postgresUrl) {
    return openPostgres({
      url: config.postgresUrl,
      connections: config.connections,
      timeoutMs: config.databaseTimeoutMs,
      ...(lookOnly ? { migrations: false } : { indexed }),
    })
  }
  if (mustExist) refuseMissing(config.dataFolder)
  const opened = await openPglite({ folder: config.dataFolder })
  try {
    for (const column of indexed) await createVectorIndexes(opened.database, column, { concurrently: false })
  } catch (error) {
    await opened.close()
    throw error
  }
  return opened
}

function refuseMissing(folder: string): void {
  if (isPgliteFolder(folder)) return
  throw new MemoryError(
    `there is no database in ${resolve(folder)}: set RECALL_HUB_DATA or RECALL_HUB_POSTGRES_URL to its place`,
    MemoryErrorCode.NOT_FOUND,
  )
}

function chooseEmbedder({ embedding, embedTimeoutMs }: HubConfig, unhurried: boolean): Embedder {
  if (embedding.provider === 'local') return workerEmbedder()
  if (embedding.provider === 'fake') return fakeEmbedder()
  const { provider: _, apiKey, ...options } = embedding
  return httpEmbedder({
    ...options,
    ...(apiKey ? { apiKey } : {}),
    retries: 1,
    // A request would end before, and the log would not say that the provider had refused it.
    ...(unhurried ? {} : { longestPauseMs: embedTimeoutMs }),
  })
}

/**
 * By default the driver waits for ever for a Redis that is down or silent. A connection that has gone silent, for
 * example because a router forgot it, is replaced.
 */
function openRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    socketTimeout: 1000,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2000),
  })
  redis.on('error', (error: Error) =>
    log({ level: 'warn', event: 'redis does not answer', code: codeOf(error) }),
  )
  return redis
}

/** The code of a lost connection, or the word in capitals that begins a refusal by Redis, such as WRONGPASS. */
function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? /^[A-Z]+\b/.exec(error.message)?.[0] ?? error.name
}
