import { until } from '../../../apps/hub/test/support/processes.ts'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import { serverUrl } from '../../../packages/store-postgres/test/support/server-database.ts'
import type { Attack } from '../attack.ts'
import { type EmbeddingFault, embeddingFaults, honest } from '../embedding-server.ts'
import { type HubSystem, type Row, speed, startHubSystem } from '../hub-system.ts'
import { startWriters, type Writers } from '../hub-writers.ts'

/** Longest that a request may take while something is broken, in milliseconds, allowing for a shared machine. */
const longestAnswerMs = 20_000

/** One hub with everything it depends on, parts of which fail while agents write. */
export const hub: Attack = {
  what: 'the hub is killed or ends; Postgres crashes, Redis is killed, both hang; the embedder is slow, fails or lies: no acknowledged write is lost or doubled, none is acknowledged for nothing, all is well again without a restart',
  size: 24,
  closed: () => (serverUrl ? null : 'RECALL_TEST_POSTGRES_URL names no Postgres server'),
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const started = performance.now()
    const system = await startHubSystem(folder)
    const counts: Record<string, number> = {}
    const violations: string[] = []
    let writers: Writers | undefined
    try {
      writers = await startWriters(system)
      for (let i = 0; i < size; i++) {
        const name = order[(seed + i) % order.length] as keyof typeof faults
        counts[name] = (counts[name] ?? 0) + 1
        const storm: Storm = { system, writers, random, wrong: (what) => violations.push(`${name}: ${what}`) }
        await writers.writeUntil(Math.floor(random() * 15))
        await faults[name](storm)
        await recovers(storm)
      }
      violations.push(...(await writers.finish()), ...(await compare(writers, await system.rows())))
    } finally {
      await writers?.stop()
      await system.end()
    }
    counts['acknowledged writes'] = writers.acknowledged.size
    counts["seconds by the hub's clock"] = Math.round(((performance.now() - started) / 1000) * speed)
    return { counts, violations }
  },
}

interface Storm {
  system: HubSystem
  writers: Writers
  random: () => number
  wrong(what: string): void
}

const faults = {
  async 'hub kills'({ system }) {
    await system.restartHub('SIGKILL')
  },
  async 'Postgres crashes'(storm) {
    await storm.system.killPostgres()
    await refuses(storm)
    await storm.system.startPostgres()
  },
  async 'embedder faults'(storm) {
    const names = Object.keys(embeddingFaults) as EmbeddingFault[]
    const fault = names[Math.floor(storm.random() * names.length)] as EmbeddingFault
    storm.system.embedding.behave(fault)
    await refuses({ ...storm, wrong: (what) => storm.wrong(`it ${fault}, and ${what}`) })
    // Requests that need no vector still work.
    await answers(storm, '/agents/me', 200)
    storm.system.embedding.behave(null)
  },
  async 'Redis hangs'(storm) {
    storm.system.redis.hang()
    await goesOn(storm)
    storm.system.redis.heal()
  },
  async 'Postgres hangs'(storm) {
    storm.system.postgres.hang()
    await refuses(storm)
    storm.system.postgres.heal()
  },
  async 'hub ends'(storm) {
    const ended = await storm.system.restartHub('SIGTERM')
    if (ended !== 0) storm.wrong(`it ended with ${ended}`)
  },
  async 'Redis kills'(storm) {
    await storm.system.killRedis()
    await goesOn(storm)
    await storm.system.startRedis()
  },
} satisfies Record<string, (storm: Storm) => Promise<void>>

/** Each kind in its turn, so that a short round has several. */
const order: readonly (keyof typeof faults)[] = ['hub kills', 'Postgres crashes', 'hub kills', 'embedder faults', 'Redis hangs', 'hub kills', 'Postgres hangs', 'embedder faults', 'hub ends', 'Redis kills'] // biome-ignore format: a list

/** While something that a write needs is away, the write is neither acknowledged nor kept waiting. */
async function refuses({ writers, wrong }: Storm): Promise<void> {
  const started = performance.now()
  const status = await writers.write()
  const took = performance.now() - started
  if (status !== 503 && status !== 504) wrong(`a write was answered ${status}`)
  if (took > longestAnswerMs) wrong(`an answer took ${Math.round(took)} ms`)
}

/** Writes are acknowledged while something that they can do without is away. */
async function goesOn({ writers, wrong }: Storm): Promise<void> {
  const started = performance.now()
  await writers.writeUntil(10)
  const took = performance.now() - started
  if (took > longestAnswerMs) wrong(`ten writes took ${Math.round(took)} ms`)
}

async function answers({ writers, wrong }: Storm, path: string, wanted: number): Promise<void> {
  const { status } = await writers.send(path)
  if (status !== wanted) wrong(`${path} was answered ${status}`)
}

/** Everything recovers by itself. */
async function recovers({ system, writers }: Storm): Promise<void> {
  await until(
    () => fetch(`${system.url}/readyz`),
    ({ status }) => status === 200,
  )
  await writers.writeUntil(1)
}

/** Compares the rows with the log, and their vectors with those of a model that never lied. */
async function compare({ acknowledged, lesson }: Writers, rows: readonly Row[]): Promise<string[]> {
  const ids = new Map(rows.map(({ id, content }) => [content, id]))
  const lost = [...acknowledged].filter(([n, id]) => ids.get(lesson(n)) !== id)
  const vectors = await honest.embed(
    rows.map(({ content }) => content),
    'document',
  )
  const unknown = ids.size - (acknowledged.size - lost.length)
  return [
    ...lost.map(([n]) => `write ${n} was acknowledged and is lost`),
    ...(ids.size < rows.length ? [`${rows.length - ids.size} memories are there twice`] : []),
    ...(unknown > 0 ? [`${unknown} memories exist that no writer was told about`] : []),
    ...vectors.flatMap((vector, i) =>
      isVector(rows[i]?.vector, vector) ? [] : [`the vector of ${rows[i]?.id} is a lie`],
    ),
  ]
}

/** The stored vector has half precision. */
const isVector = (stored: number[] | null | undefined, wanted: Float32Array): boolean =>
  stored?.length === wanted.length && stored.every((x, i) => Math.abs(x - (wanted[i] as number)) < 0.01)
