import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memories } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import {
  canStartPostgres,
  freePort,
  type Killable,
  startHub,
  startPostgres,
  startProxy,
  startRedis,
  until,
} from '../../../apps/hub/test/processes.ts'
import { noLimits, openServerDatabase, serverUrl } from '../../../apps/hub/test/support.ts'
import { seededRandom } from '../../../packages/store-file/test/random.ts'
import type { Attack } from '../attack.ts'

const writers = 6

/** One hub, its Postgres and its Redis, of which something dies while agents write. */
export const hub: Attack = {
  what: 'the hub is killed, Postgres is killed or cut off, Redis is killed: no acknowledged write is lost or doubled, no 2xx for a failed one, all is well again without a restart',
  size: 8,
  closed: () => (serverUrl ? null : 'RECALL_TEST_POSTGRES_URL names no Postgres server'),
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const storm = await startStorm(folder)
    const violations: string[] = []
    const counts: Record<string, number> = {}
    const count = (what: string): void => {
      counts[what] = (counts[what] ?? 0) + 1
    }
    try {
      for (let i = 0; i < size; i++) {
        const chosen = random()
        if (chosen < 0.5) {
          count('hub kills')
          await storm.killHub(random)
        } else if (chosen < 0.8) {
          count('Postgres kills and cuts')
          await storm.cutPostgres(random)
        } else {
          count('Redis kills')
          await storm.killRedis(random)
        }
      }
      violations.push(...(await storm.lookAt()))
    } finally {
      await storm.end()
    }
    violations.push(...storm.wrong)
    return { counts: { ...counts, 'acknowledged writes': storm.acknowledged.size }, violations }
  },
}

const lesson = (n: number): string =>
  `Lesson ${n}: the service ${n * 7919} failed under load until its settings were raised, number ${n * 104_729}.`

async function startStorm(folder: string) {
  const database = canStartPostgres ? null : await openServerDatabase()
  const postgres: Killable = database ? await startProxy(database.url) : await startPostgres()
  const redisPort = await freePort()
  let redis: Awaited<ReturnType<typeof startRedis>> | null = await startRedis(redisPort)
  const config = join(folder, 'hub.json')
  writeFileSync(config, JSON.stringify(noLimits))
  const start = () =>
    startHub({
      POSTGRES_URL: postgres.url,
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      EMBEDDING_PROVIDER: 'fake',
      DATABASE_TIMEOUT_MS: '1000',
      CONFIG: config,
    })
  let running = await start()
  const acknowledged = new Map<number, string>()
  const doubtful = new Set<number>()
  const wrong: string[] = []
  let next = 0
  const registered = await send(running.url, '/agents/register', { name: 'ada' })
  const key = registered.json.api_key as string

  /** One write, perhaps one that is tried again. What is not acknowledged may or may not be there. */
  const write = async (): Promise<void> => {
    const [again] = doubtful
    const n = again ?? next++
    doubtful.delete(n)
    const body = { content: lesson(n), tags: ['fault', 'test'] }
    const { status, json } = await send(running.url, '/memory', body, key, `save-${n}`)
    if (status === 201) acknowledged.set(n, json.id as string)
    else if (status >= 500 && status !== 503 && status !== 504)
      wrong.push(`write ${n} was answered ${status}`)
    // One that a dead hub was at (409) may be tried again after a minute: nothing waits for that here.
    else if (status !== 409) doubtful.add(n)
  }

  /** Writes until something is done, and until some more writes were acknowledged. */
  const writeWhile = async (random: () => number, happens: () => Promise<void>): Promise<void> => {
    let over = false
    const all = Array.from({ length: writers }, async () => {
      while (!over) await write()
    })
    const wanted = acknowledged.size + Math.floor(random() * 25)
    try {
      await until(
        async () => acknowledged.size,
        (size) => size >= wanted,
      )
      await happens()
    } finally {
      over = true
      await Promise.all(all)
    }
  }

  const recovers = (): Promise<unknown> =>
    until(
      () => fetch(`${running.url}/readyz`),
      ({ status }) => status === 200,
    )

  return {
    acknowledged,
    wrong,
    async killHub(random: () => number) {
      await writeWhile(random, async () => void (await running.stop('SIGKILL')))
      running = await start()
    },
    async cutPostgres(random: () => number) {
      await writeWhile(random, async () => {
        await postgres.kill()
        const { status } = await send(
          running.url,
          '/memory',
          { content: lesson(next++), tags: ['a', 'b'] },
          key,
        )
        if (status < 500) wrong.push(`without Postgres a write was answered ${status}`)
        await postgres.start()
        await recovers()
      })
      await until(
        async () => (await send(running.url, '/agents/me', undefined, key)).status,
        (status) => status === 200,
      )
    },
    async killRedis(random: () => number) {
      await writeWhile(random, async () => {
        await redis?.kill()
        redis = null
        const before = acknowledged.size
        // Writes go on without it.
        await until(
          async () => acknowledged.size,
          (size) => size > before,
        )
        redis = await startRedis(redisPort)
      })
    },
    /** The rows against the log. */
    async lookAt(): Promise<string[]> {
      const { database: direct, close } = await openPostgres({
        url: postgres.url,
        migrations: false,
        connections: 1,
      })
      const rows = await direct.select({ id: memories.id, content: memories.content }).from(memories)
      await close()
      const ids = new Map(rows.map(({ id, content }) => [content, id]))
      const lost = [...acknowledged].filter(([n, id]) => ids.get(lesson(n)) !== id)
      return [
        ...lost.map(([n]) => `write ${n} was acknowledged and is lost`),
        ...(ids.size < rows.length ? [`${rows.length - ids.size} memories are there twice`] : []),
      ]
    },
    async end() {
      await running.stop('SIGKILL')
      await redis?.kill()
      await postgres.kill()
      await database?.close()
    },
  }
}

/** Tells of failures here: an answer that is none counts as status 0. */
async function send(url: string, path: string, body?: unknown, key?: string, idempotency?: string) {
  try {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotency ? { 'Idempotency-Key': idempotency } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
  } catch {
    return { status: 0, json: {} as Record<string, unknown> }
  }
}
