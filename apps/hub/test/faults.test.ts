import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryErrorCode } from '@recall/core'
import { memories, rowsOf } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { isNull, sql } from 'drizzle-orm'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { runOnSmallDisk } from '../../../packages/store-postgres/test/support/small-disk.ts'
import { type HubSettings, parseConfig } from '../src/config/config.ts'
import { examine } from '../src/doctor.ts'
import { openDependencies } from '../src/open-dependencies.ts'
import { serveHub } from '../src/serve.ts'
import { openGate } from './support/gate.ts'
import { noLimits } from './support/open-hub.ts'
import {
  canStartPostgres,
  freePort,
  type Killable,
  runHub,
  startHub,
  startPostgres,
  startRedis,
  until,
} from './support/processes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const tags = ['fault', 'test']
const lesson = (n: number): string =>
  `Lesson ${n}: the service ${n * 7919} failed under load until its settings were raised, number ${n * 104_729}.`

/** Tells of failures here: an answer that is none counts as status 0. */
async function send(
  url: string,
  path: string,
  { key, body, headers }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{
  status: number
  type: string | null
  retryAfter: string | null
  json: Record<string, unknown>
}> {
  try {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return {
      status: answer.status,
      type: answer.headers.get('Content-Type'),
      retryAfter: answer.headers.get('Retry-After'),
      json: (await answer.json()) as Record<string, unknown>,
    }
  } catch {
    return { status: 0, type: null, retryAfter: null, json: {} }
  }
}

const register = async (url: string): Promise<string> =>
  (await send(url, '/agents/register', { body: { name: 'ada' } })).json.api_key as string

const save = (url: string, key: string, n: number) =>
  send(url, '/memory', {
    key,
    body: { content: lesson(n), tags },
    headers: { 'Idempotency-Key': `save-${n}` },
  })

async function listening(settings: HubSettings, log: (line: Record<string, unknown>) => void = () => {}) {
  const hub = await serveHub(
    parseConfig({ ...noLimits, port: 0, embedding: { provider: 'fake' }, ...settings }),
    log,
  )
  onTestFinished(() => hub.close())
  return hub
}

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('faults', () => {
  let server: Awaited<ReturnType<typeof openServerDatabase>>
  beforeAll(async () => {
    server = await openServerDatabase()
  })
  afterAll(() => server?.close())

  it('connections that are cut while they are made do not end the hub', async () => {
    const postgres = await startCut()
    const hub = await startHub({ ...storming(postgres.url), DATABASE_TIMEOUT_MS: '1000' })
    onTestFinished(async () => void (await hub.stop('SIGKILL')))
    const key = await register(hub.url)
    for (let round = 0; round < 8; round++) {
      const writes = Array.from({ length: 8 }, (_, i) => save(hub.url, key, 8 * round + i))
      await wait(8 * round)
      await postgres.kill()
      for (const { status } of await Promise.all(writes)) expect([201, 503, 504]).toContain(status)
      await postgres.start()
    }
    expect((await fetch(`${hub.url}/livez`)).status).toBe(200)
  }, 120_000)

  it.each([
    ...(canStartPostgres ? [['Postgres is killed', () => startPostgres(temporaryFolder())] as const] : []),
    ['every connection to Postgres is cut', startCut] as const,
  ])(
    '%s and comes back: 503 meanwhile, and no restart',
    async (_, open) => {
      const postgres = await open()
      let isUp = true
      onTestFinished(async () => {
        if (isUp) await postgres.kill()
      })
      const hub = await startHub({ ...storming(postgres.url), DATABASE_TIMEOUT_MS: '1000' })
      onTestFinished(async () => void (await hub.stop('SIGKILL')))
      const key = await register(hub.url)
      const kept = new Set<number>()
      const failed = new Set<number>()
      let n = 0
      const write = async (): Promise<void> => {
        const each = n++
        const { status, type, retryAfter } = await save(hub.url, key, each)
        if (status === 201) kept.add(each)
        else {
          failed.add(each)
          expect([503, 504]).toContain(status)
          expect(type).toBe('application/problem+json')
          expect(Number(retryAfter)).toBeGreaterThan(0)
        }
      }
      // Some are under way when it dies.
      const underWay = Array.from({ length: 8 }, write)
      await underWay[0]
      await postgres.kill()
      isUp = false
      await Promise.all(underWay)
      const started = performance.now()
      await write()
      expect(performance.now() - started).toBeLessThan(5000)
      expect((await fetch(`${hub.url}/readyz`)).status).toBe(503)
      expect((await fetch(`${hub.url}/livez`)).status).toBe(200)
      expect(failed.size).toBeGreaterThan(0)
      await postgres.start()
      isUp = true
      await until(
        () => fetch(`${hub.url}/readyz`),
        ({ status }) => status === 200,
      )
      // Tried again with its key, each is there once, whatever became of the first attempt.
      for (const each of failed) {
        await until(
          () => save(hub.url, key, each),
          ({ status }) => status === 201,
        )
      }
      const { database, close } = await openPostgres({ url: postgres.url, migrations: false, connections: 1 })
      const contents = (await database.select({ content: memories.content }).from(memories)).map(
        ({ content }) => content,
      )
      await close()
      expect(contents.sort()).toEqual([...kept, ...failed].map(lesson).sort())
    },
    120_000,
  )

  it('all connections are taken: told in time, and over when they are free', async () => {
    const hub = await listening({ postgresUrl: server.url, connections: 2, databaseTimeoutMs: 400 })
    const key = await register(hub.url)
    const unlock = await lockMemories(server.url)
    const started = performance.now()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => save(hub.url, key, 1000 + n)))
    expect(performance.now() - started).toBeLessThan(5000)
    for (const { status, type } of answers) {
      expect([503, 504]).toContain(status)
      expect(type).toBe('application/problem+json')
    }
    await unlock()
    await until(
      () => save(hub.url, key, 2000),
      ({ status }) => status === 201,
    )
    expect(await server.database.$count(memories)).toBe(1)
  })

  it('searches hang: short calls are answered all the same', async () => {
    const hub = await listening({ postgresUrl: server.url, connections: 3, databaseTimeoutMs: 60_000 })
    const key = await register(hub.url)
    const unlock = await lockMemories(server.url)
    const searches = Array.from({ length: 12 }, (_, n) => send(hub.url, `/memory/search?q=${n}`, { key }))
    const waiting = sql`select pid from pg_locks where relation = 'memories'::regclass and not granted`
    await until(
      () => rowsOf(server.database, waiting),
      ({ length }) => length === 2,
    )
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(200)
    await unlock()
    expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(searches.map(() => 200))
  })

  it('a memory is deleted while searches that found it are recorded: the others count', async () => {
    const logged: string[] = []
    const hub = await listening({ postgresUrl: server.url }, ({ event }) => logged.push(String(event)))
    const key = await register(hub.url)
    const [gone, left] = [await save(hub.url, key, 3001), await save(hub.url, key, 3002)]
    const events = sql`select count(*)::int as count from retrieval_events where memory_id = ${left.json.id}`
    let searches: ReturnType<typeof send>[] = []
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`delete from memories where id = ${gone.json.id}`)
      searches = [3001, 3002, 3001, 3002, 3001, 3002].map((n) =>
        send(hub.url, `/memory/search?q=${encodeURIComponent(lesson(n))}`, { key }),
      )
      await until(
        () => rowsOf(server.database, waitingHere),
        ({ length }) => length > 0,
      )
    })
    const foundIt = (await Promise.all(searches)).filter(({ json }) =>
      JSON.stringify(json.results).includes(String(left.json.id)),
    )
    expect(foundIt.length).toBeGreaterThan(2)
    await until(
      () => rowsOf<{ count: number }>(server.database, events),
      ([row]) => row?.count === foundIt.length,
    )
    expect(logged).not.toContain('retrievals lost')
  })

  it('a memory is deleted while others cite it, say the same, and are compared with it', async () => {
    const failures: unknown[] = []
    const log = (line: Record<string, unknown>) => void (line.level === 'error' && failures.push(line))
    const hub = await listening({ postgresUrl: server.url }, log)
    const queueing = await listening({ postgresUrl: server.url, embedAsync: true }, log)
    const [ann, bob] = [await register(hub.url), await register(hub.url)]
    const gone = await save(hub.url, ann, 3003)
    let answers: ReturnType<typeof send>[] = []
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`delete from memories where id = ${gone.json.id}`)
      answers = [
        send(hub.url, `/memory/${gone.json.id}/cite`, { key: bob, body: {} }),
        save(hub.url, bob, 3003),
        send(queueing.url, '/memory', { key: bob, body: { content: lesson(3003), tags } }),
      ]
      await until(
        () => rowsOf(server.database, waitingHere),
        ({ length }) => length === 3,
      )
    })
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 201, 201])
    await until(
      () => server.database.$count(memories, isNull(memories.embedding)),
      (waiting) => waiting === 0,
    )
    expect(failures).toEqual([])
  })

  it('Postgres hangs: no request waits for ever, and all is well when it goes on', async () => {
    const database = await openServerDatabase()
    onTestFinished(() => database.close())
    const gate = await openGate(database.url)
    onTestFinished(() => gate.close())
    const hub = await listening({ postgresUrl: gate.url, databaseTimeoutMs: 300 })
    const key = await register(hub.url)
    const read = () => send(hub.url, '/memory/RCL-00000000', { key })
    expect((await read()).status).toBe(404)
    gate.hang()
    expect(await read()).toMatchObject({ status: 504, type: 'application/problem+json' })
    expect((await send(hub.url, '/agents/register', { body: { name: 'bob' } })).status).toBe(504)
    gate.heal()
    await until(read, ({ status }) => status === 404)
  })

  it('Postgres hangs: a request does not wait for its count as long as for its answer', async () => {
    const gate = await openGate(server.url)
    onTestFinished(() => gate.close())
    const events: unknown[] = []
    const settings: HubSettings = { postgresUrl: gate.url, databaseTimeoutMs: 120_000 }
    const hub = await listening(settings, ({ event }) => events.push(event))
    gate.hang()
    const registered = register(hub.url)
    await until(
      async () => events,
      () => events.includes('requests are counted by this process alone'),
    )
    gate.heal()
    expect(await registered).toBeDefined()
  })

  it('connections to Postgres that have gone silent are made anew', async () => {
    const database = await openServerDatabase()
    onTestFinished(() => database.close())
    const gate = await openGate(database.url)
    onTestFinished(() => gate.close())
    const hub = await listening({ postgresUrl: gate.url, databaseTimeoutMs: 300, connections: 3 })
    const key = await register(hub.url)
    const read = () => send(hub.url, '/memory/RCL-00000000', { key })
    expect((await Promise.all([1, 2, 3, 4].map(read))).map(({ status }) => status)).toEqual([
      404, 404, 404, 404,
    ])
    gate.forget()
    expect((await read()).status).toBe(504)
    await until(
      () => Promise.all([1, 2, 3, 4].map(read)),
      (answers) => answers.every(({ status }) => status === 404),
    )
  })

  it('Postgres becomes read-only: reads go on, writes are refused until it takes them again', async () => {
    const { url, database, close } = await openServerDatabase()
    onTestFinished(close)
    const settings: HubSettings = { postgresUrl: url, embedding: { provider: 'fake' } }
    const hub = await listening(settings)
    const key = await register(hub.url)
    expect((await save(hub.url, key, 1)).status).toBe(201)
    const name = new URL(url).pathname.slice(1)
    const setReadOnly = async (value: 'on' | 'off') => {
      await database.execute(sql.raw(`alter database ${name} set default_transaction_read_only = ${value}`))
      await database.execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
    }
    const search = () => send(hub.url, `/memory/search?q=${encodeURIComponent(lesson(1))}`, { key })
    await setReadOnly('on')
    const refused = await until(
      () => save(hub.url, key, 2),
      ({ json }) => /25006/.test(String(json.detail)),
    )
    expect(refused).toMatchObject({
      status: 503,
      retryAfter: '1',
      json: { code: MemoryErrorCode.UNAVAILABLE },
    })
    expect(await search()).toMatchObject({ status: 200, json: { results: [{}] } })
    const own = await openDependencies(parseConfig(settings), () => {}, { lookOnly: true })
    const findings = await examine(parseConfig(settings), own)
    await own.close()
    expect(findings).toContainEqual({
      check: 'writes',
      ok: false,
      says: expect.stringContaining('refused by Postgres, which is read-only'),
    })
    await setReadOnly('off')
    await until(
      () => save(hub.url, key, 2),
      ({ status }) => status === 201,
    )
  })

  it.each(['backup', 'restore'])('the connection of a %s is cut: it fails and says why', async (command) => {
    const database = await openServerDatabase()
    onTestFinished(() => database.close())
    const gate = await openGate(database.url)
    onTestFinished(() => gate.close())
    const unlock = await lockMemories(database.url)
    const path = join(temporaryFolder(), 'hub.backup')
    if (command === 'restore') writeFileSync(path, '')
    const ended = runHub({ POSTGRES_URL: gate.url, EMBEDDING_PROVIDER: 'fake' }, command, path)
    await until(
      () => rowsOf(database.database, waitingHere),
      ({ length }) => length > 0,
    )
    gate.cut()
    expect(await ended).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^recall-hub: Postgres cannot be reached: [^\n]* \(CONNECTION_CLOSED\)\n$/,
      ),
    })
    await unlock()
    expect(existsSync(`${path}.unfinished`)).toBe(false)
  })

  it('Redis is gone and comes back: limits hold meanwhile, and nobody waits', async () => {
    const port = await freePort()
    let redis = await startRedis(port)
    let isUp = true
    onTestFinished(async () => {
      if (isUp) await redis.kill()
    })
    const hub = await listening({ postgresUrl: server.url, redisUrl: redis.url, limits: limitsOf(50) })
    const key = await register(hub.url)
    const ask = () => send(hub.url, '/memory/RCL-00000000', { key })
    expect((await ask()).status).toBe(404)
    await redis.kill()
    isUp = false
    const started = performance.now()
    const statuses: number[] = []
    for (let i = 0; i < 60; i++) statuses.push((await ask()).status)
    // Neither open nor closed: each process counts for itself.
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(49)
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(51)
    expect(statuses.at(-1)).toBe(429)
    expect(performance.now() - started).toBeLessThan(10_000)
    redis = await startRedis(port)
    isUp = true
    // It counts anew there.
    await until(ask, ({ status }) => status === 404)
  })

  it('a connection to Redis that has gone silent is made anew', async () => {
    const redis = await startRedis(await freePort())
    onTestFinished(() => redis.kill())
    const gate = await openGate(redis.url)
    onTestFinished(() => gate.close())
    const hub = await listening({ postgresUrl: server.url, redisUrl: gate.url, limits: limitsOf(1_000_000) })
    const key = await register(hub.url)
    const counts = new Redis(redis.url)
    onTestFinished(() => counts.disconnect())
    const askAndCount = async () => {
      expect((await send(hub.url, '/memory/RCL-00000000', { key })).status).toBe(404)
      const [name = ''] = await counts.keys('*-get:*')
      return Number(await counts.get(name))
    }
    // On a slow machine the hub may not wait for an answer of Redis.
    const counted = await until(askAndCount, (count) => count > 0)
    gate.forget()
    expect(await askAndCount()).toBe(counted)
    await until(askAndCount, (count) => count > counted)
  })

  describe('an embedding provider', () => {
    let provider: Server
    let url = ''
    let behaves: 'well' | 'fails' | 'refuses' | 'stalls' | 'short' | 'empty' = 'well'
    beforeAll(async () => {
      provider = createServer((request, response) => {
        if (behaves === 'stalls') return
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] }
          const length = behaves === 'short' ? 3 : 8
          const vector = Array.from({ length }, (_, i) => ((input[0]?.length ?? 0) % (i + 2)) + 1)
          const status = { fails: 500, refuses: 429 }[behaves as string] ?? 200
          response.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '30' })
          response.end(
            JSON.stringify({
              data: behaves === 'empty' ? [] : input.map((_, index) => ({ index, embedding: vector })),
            }),
          )
        })
      }).listen(0, '127.0.0.1')
      await once(provider, 'listening')
      const address = provider.address()
      url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1`
    })
    afterAll(() => {
      provider.closeAllConnections()
      provider.close()
    })

    it.each(['fails', 'refuses', 'stalls', 'short', 'empty'] as const)(
      'that %s: 503, nothing half written, and well again by itself',
      async (fault) => {
        const own = await openServerDatabase()
        onTestFinished(() => own.close())
        behaves = 'well'
        const says: unknown[] = []
        const settings: HubSettings = {
          postgresUrl: own.url,
          embedding: { provider: 'http', url, model: 'eight', dimensions: 8 },
          embedTimeoutMs: 500,
        }
        const hub = await listening(settings, (line) => says.push(line.says))
        const key = await register(hub.url)
        behaves = fault
        const started = performance.now()
        const refused = await save(hub.url, key, 1)
        expect(refused).toMatchObject({ status: 503, type: 'application/problem+json' })
        expect(Number(refused.retryAfter)).toBeGreaterThan(0)
        expect((await send(hub.url, '/memory/search?q=anything', { key })).status).toBe(503)
        expect(performance.now() - started).toBeLessThan(8000)
        expect(await own.database.$count(memories)).toBe(0)
        if (fault === 'short') expect(says.join()).toContain('gave a vector of 3 dimensions')
        if (fault === 'refuses') expect(says.join()).toContain('answered 429')
        if (fault === 'stalls') expect(says.join()).toContain('no vector within 500 milliseconds')
        behaves = 'well'
        expect((await save(hub.url, key, 1)).status).toBe(201)
      },
    )
  })

  it('SIGTERM under load: what was taken is answered and kept, and the process ends well', async () => {
    const own = await openServerDatabase()
    onTestFinished(() => own.close())
    const hub = await startHub(storming(own.url))
    const key = await register(hub.url)
    const answers: Promise<number>[] = []
    for (let n = 0; n < 40; n++) answers.push(save(hub.url, key, n).then(({ status }) => status))
    await answers[0]
    expect(await hub.stop('SIGTERM')).toBe(0)
    const statuses = await Promise.all(answers)
    expect(statuses.filter((status) => status !== 201 && status !== 0)).toEqual([])
    expect(await own.database.$count(memories)).toBeGreaterThanOrEqual(
      statuses.filter((status) => status === 201).length,
    )
    expect(hub.stderr()).not.toContain('request failed')
  })

  it('SIGKILL at random points of a storm of writes loses nothing that was acknowledged', async () => {
    const kills = Number(process.env.RECALL_TEST_KILLS ?? 4)
    const own = await openServerDatabase()
    onTestFinished(() => own.close())
    let random = 1
    const acknowledged = new Map<number, string>()
    const doubtful = new Set<number>()
    let next = 0
    let key = ''
    for (let kill = 0; kill < kills; kill++) {
      const hub = await startHub(storming(own.url))
      key ||= await register(hub.url)
      let isDead = false
      const writer = async (): Promise<void> => {
        while (!isDead) {
          const [again] = doubtful
          const n = again ?? next++
          doubtful.delete(n)
          const { status, json } = await save(hub.url, key, n)
          if (status === 201) acknowledged.set(n, json.id as string)
          // One that a dead hub was at (409) may be tried again after a minute: nothing waits for that here.
          else if (status !== 409) doubtful.add(n)
        }
      }
      const writers = Array.from({ length: 6 }, writer)
      // A count of writes, not a time: the same points on a slow machine.
      random = (random * 16_807) % 2_147_483_647
      const target = acknowledged.size + (random % 25)
      await until(
        async () => acknowledged.size,
        (size) => size >= target,
      )
      expect(await hub.stop('SIGKILL')).toBe('SIGKILL')
      isDead = true
      await Promise.all(writers)
    }
    const rows = await own.database.select({ id: memories.id, content: memories.content }).from(memories)
    const contents = rows.map(({ content }) => content)
    expect(new Set(contents).size, 'written twice').toBe(contents.length)
    const ids = new Map(rows.map(({ id, content }) => [content, id]))
    for (const [n, id] of acknowledged) expect(ids.get(lesson(n)), `write ${n}`).toBe(id)
    process.stderr.write(`${kills} kills, ${acknowledged.size} acknowledged writes, none lost\n`)
  }, 600_000)
})

it('a full disk under the embedded database is told, and the hub goes on by itself when there is room', ({
  skip,
}) => {
  const ran = runOnSmallDisk(new URL('children/full-disk-child.ts', import.meta.url), temporaryFolder())
  if ('refused' in ran) skip(`no small disk can be mounted here: ${ran.refused}`)
  else expect(ran.output).toMatch(/^ok /m)
})

/** Others may wait for locks in other databases of the server. */
const waitingHere = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Keeps every call that touches the memories waiting, until the returned function is called. */
async function lockMemories(url: string): Promise<() => Promise<unknown>> {
  const blocker = await openPostgres({ url, migrations: false, connections: 1, timeoutMs: 60_000 })
  onTestFinished(() => blocker.close())
  await blocker.database.execute(sql`begin`)
  await blocker.database.execute(sql`lock table memories in access exclusive mode`)
  return () => blocker.database.execute(sql`rollback`)
}

async function startCut(): Promise<Killable> {
  const { url, close } = await openServerDatabase()
  onTestFinished(close)
  const gate = await openGate(url)
  onTestFinished(() => gate.close())
  return { url: gate.url, kill: gate.cut, start: gate.heal }
}

/** As many requests of each kind in an hour, for each agent. */
function limitsOf(requests: number): HubSettings['limits'] {
  const windows = [{ requests, seconds: 3600 }]
  const tier = { write: windows, search: windows, get: windows }
  return { ...noLimits.limits, tiers: { unverified: tier, trusted: tier, core: tier } }
}

/** Settings that have no variable of their own. */
function limitsFile(): string {
  const path = join(temporaryFolder(), 'hub.json')
  writeFileSync(path, JSON.stringify(noLimits))
  return path
}

const storming = (url: string): Record<string, string> => ({
  POSTGRES_URL: url,
  EMBEDDING_PROVIDER: 'fake',
  CONFIG: limitsFile(),
})
