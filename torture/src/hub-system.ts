import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memories } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { openGate } from '../../apps/hub/test/support/gate.ts'
import { noLimits } from '../../apps/hub/test/support/open-hub.ts'
import {
  canStartPostgres,
  freePort,
  type HubProcess,
  startHub,
  startPostgres,
  startRedis,
} from '../../apps/hub/test/support/processes.ts'
import { openServerDatabase } from '../../packages/store-postgres/test/support/server-database.ts'
import { honest, startEmbeddingServer } from './embedding-server.ts'
import { hubProgram } from './programs.ts'

/** How many times faster than real time the hub's clock runs: an hour of it, including expiries, passes sooner. */
export const speed = 4

/** A memory that the hub keeps. */
export interface Row {
  id: string
  content: string
  vector: number[] | null
}

/** A hub with a Postgres, a Redis and an embedding service, each of which can fail in every known way. */
export async function startHubSystem(folder: string) {
  const server = canStartPostgres ? null : await openServerDatabase()
  const own = server ? null : await startPostgres(folder)
  const postgresUrl = own?.url ?? server?.url ?? ''
  const postgres = await openGate(postgresUrl)
  const redisPort = await freePort()
  let redisProcess: Awaited<ReturnType<typeof startRedis>> | null = await startRedis(redisPort)
  const redis = await openGate(`redis://127.0.0.1:${redisPort}`)
  const embedding = await startEmbeddingServer()
  const config = join(folder, 'hub.json')
  writeFileSync(config, JSON.stringify(noLimits))
  const program = ['--import', fastClock(Date.now()), ...hubProgram()]
  const settings = {
    POSTGRES_URL: postgres.url,
    REDIS_URL: redis.url,
    EMBEDDING_PROVIDER: 'http',
    EMBEDDING_URL: embedding.url,
    EMBEDDING_MODEL: honest.model,
    EMBEDDING_DIMENSIONS: String(honest.dimensions),
    DATABASE_TIMEOUT_MS: '3000',
    EMBED_TIMEOUT_MS: '2000',
    CONFIG: config,
  }
  const start = (): Promise<HubProcess> => startHub(settings, program)
  let hub = await start()

  return {
    get url(): string {
      return hub.url
    },
    postgres,
    redis,
    embedding,
    async restartHub(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
      const ended = await hub.stop(signal)
      hub = await start()
      return ended
    },
    /** If no Postgres can be started as root, its connections are cut instead. */
    async killPostgres(): Promise<void> {
      if (own) await own.kill()
      else postgres.cut()
    },
    async startPostgres(): Promise<void> {
      if (own) await own.start()
      else postgres.heal()
    },
    async killRedis(): Promise<void> {
      await redisProcess?.kill()
      redisProcess = null
    },
    async startRedis(): Promise<void> {
      redisProcess = await startRedis(redisPort)
    },
    /** The rows in the database, read without the hub. */
    async rows(): Promise<Row[]> {
      const { database, close } = await openPostgres({
        url: postgresUrl,
        migrations: false,
        connections: 1,
        timeoutMs: 30_000,
      })
      try {
        return await database
          .select({ id: memories.id, content: memories.content, vector: memories.embedding })
          .from(memories)
      } finally {
        await close()
      }
    },
    async end(): Promise<void> {
      await hub.stop('SIGKILL')
      await redisProcess?.kill()
      await Promise.all([postgres.close(), redis.close(), embedding.close()])
      await own?.kill()
      await server?.close()
    },
  }
}

export type HubSystem = Awaited<ReturnType<typeof startHubSystem>>

/**
 * A module that makes the clock of a process run faster from an instant on; the instant stays the same after a restart.
 */
const fastClock = (from: number): string =>
  `data:text/javascript,${encodeURIComponent(
    `const now = Date.now; Date.now = () => Math.floor(${from} + (now() - ${from}) * ${speed})`,
  )}`
