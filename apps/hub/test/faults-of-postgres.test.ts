import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { MemoryErrorCode } from '@recall/core'
import { memories, rowsOf } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { type HubSettings, parseConfig } from '../src/config/config.ts'
import { examine } from '../src/doctor.ts'
import { openDependencies } from '../src/open-dependencies.ts'
import { lesson, listening, register, save, send, storming, tags } from './support/faults.ts'
import { openGate } from './support/gate.ts'
import {
  canStartPostgres,
  type Killable,
  runHub,
  startHub,
  startPostgres,
  until,
} from './support/processes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('faults of Postgres', () => {
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
      message: expect.stringContaining('refused by Postgres, which is read-only'),
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
