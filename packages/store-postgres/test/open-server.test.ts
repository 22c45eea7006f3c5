import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { type Embedder, isMemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { prepared, rowsOf } from '../src/engines/database.ts'
import { openPostgres, openPostgresMemory } from '../src/postgres.ts'
import { agents } from '../src/schema/hub.ts'
import { type VectorColumn, vectorIndexNames } from '../src/search/vector-index.ts'
import { createServerDatabase, openServerDatabase, serverUrl } from './support/server-database.ts'
import { openTlsFront } from './support/tls-front.ts'

it.each([
  undefined,
  '',
  'localhost:5432',
  'postgres://ana:s3cret#word@host/db',
  'postgres://ana:s3cret%@host/db',
])('refuses the url %s without repeating it', async (url) => {
  const error = await openPostgresMemory({ url: url as string }).catch((error: unknown) => error)
  expect(error).toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
  expect(inspect(error)).not.toContain('s3cret')
})

const wrongOptions: [object, string][] = [
  [{ namespce: 'x' }, '"namespce"'],
  [{ stores: {} }, '"stores"'],
  [{ redact: 'no' }, 'options.redact'],
  [{ embedder: { model: 'm', dimensions: 0, embed: async () => [] } }, 'options.embedder.dimensions'],
  [{ encryptionKey: new Uint8Array(3) }, 'AES-256'],
  [{ textConfiguration: 5 }, 'options.textConfiguration'],
  [{ onNotice: 5 }, 'options.onNotice'],
  [{ indexed: [{ table: 'foo', dimensions: 3 }] }, 'options.indexed'],
  [{ indexed: 'units' }, 'options.indexed'],
  [{ migrations: 'no' }, 'options.migrations'],
  [{ connections: 0 }, 'options.connections'],
  [{ timeoutMs: '5' }, 'timeoutMs'],
]

it.each(wrongOptions)('asks no server for a memory with the options %j', async (options, told) => {
  // A server that is asked would not answer.
  const url = 'postgres://postgres@127.0.0.1:1/none'
  const wrong = { code: MemoryErrorCode.INVALID_INPUT, message: expect.stringContaining(told) }
  await expect(openPostgresMemory({ url, ...options })).rejects.toMatchObject(wrong)
})

it('says of no options and of unknown ones that they are wrong', async () => {
  const wrong = { code: MemoryErrorCode.INVALID_INPUT }
  for (const options of [undefined, { url: 'postgres://127.0.0.1:1/none', conections: 3 }])
    await expect(openPostgres(options as never)).rejects.toMatchObject(wrong)
  await expect(openPostgresMemory(undefined as never)).rejects.toMatchObject(wrong)
})

describe.runIf(serverUrl)('a server', () => {
  it('is migrated once by processes that start together', async () => {
    const { url, drop } = await createServerDatabase()
    const opened = await Promise.all([1, 2, 3, 4].map(() => openPostgresMemory({ url })))
    await opened[0]?.write('long-term', 'key', 'value')
    expect(await opened[3]?.read('long-term', 'key')).toBe('value')
    for (const memory of opened) await memory.close()
    await drop()
  })

  it('gets the index of vectors from one of those that start together, also where making it was interrupted', async () => {
    const { url, drop } = await createServerDatabase()
    const indexed = [{ table: 'units', dimensions: 3 }] as const
    const validity = "select indisvalid from pg_index where indexrelid = to_regclass('units_embedding_3')"
    const first = await openPostgres({ url, indexed })
    // What is left of an index whose making was interrupted.
    await first.database.execute(
      validity.replace('select indisvalid from pg_index', 'update pg_index set indisvalid = false'),
    )
    expect(await first.database.execute(validity)).toMatchObject([{ indisvalid: false }])
    const opened = await Promise.all([1, 2, 3].map(() => openPostgres({ url, indexed, timeoutMs: 1 })))
    expect(await first.database.execute(validity)).toMatchObject([{ indisvalid: true }])
    for (const { close } of [first, ...opened]) await close()
    await drop()
  })

  it.each([
    ['others are named', [{ table: 'memories', dimensions: 3 } as const]],
    ['no others are named', undefined],
  ])('gets the index that its embedder needs where %s', async (_, indexed) => {
    const { url, drop } = await createServerDatabase()
    const embedder: Embedder = { model: 'none', dimensions: 3, embed: async () => [] }
    const memory = await openPostgresMemory({ url, embedder, ...({ indexed } as object) })
    const { database, close } = await openPostgres({ url })
    const found = await rowsOf<{ name: string }>(
      database,
      sql`select indexname as name from pg_indexes where indexdef like '%hnsw%' order by name`,
    )
    const columns: VectorColumn[] = [...(indexed ?? []), { table: 'units', dimensions: 3 }]
    expect(found.map(({ name }) => name)).toEqual(columns.flatMap(vectorIndexNames).sort())
    await close()
    await memory.close()
    await drop()
  })

  it('tells times in one way, whatever its database is set to', async () => {
    const { url, drop } = await createServerDatabase()
    const name = new URL(url).pathname.slice(1)
    const before = await openPostgres({ url })
    for (const set of ["datestyle = 'SQL, DMY'", "timezone = 'Europe/Berlin'"])
      await before.database.execute(`alter database ${name} set ${set}`)
    await before.close()
    const { database, close } = await openPostgres({ url })
    const createdAt = new Date('2026-03-02T12:00:00Z')
    await database.insert(agents).values({ name: 'ada', apiKeyHash: 'hash', createdAt })
    const [row] = await database
      .select({ createdAt: agents.createdAt, later: sql`${agents.createdAt} + interval '30 days'` })
      .from(agents)
    expect(row).toEqual({ createdAt, later: '2026-04-01 12:00:00+00' })
    await close()
    await drop()
  })

  it('is refused with what to do where the tables cannot be', async () => {
    const { url, drop } = await createServerDatabase()
    const role = new URL(url).pathname.slice(1)
    const owner = await openPostgres({ url, migrations: false })
    await owner.database.execute(sql.raw(`create role ${role} login password 'secret'`))
    const asRole = new URL(url)
    Object.assign(asRole, { username: role, password: 'secret' })
    await expect(openPostgres({ url: asRole.href })).rejects.toMatchObject({
      code: MemoryErrorCode.NOT_SUPPORTED,
      message: expect.stringContaining('create extension vector'),
    })
    await owner.database.execute(sql.raw(`drop role ${role}`))
    await owner.close()
    await drop()
  })

  it.each([0, -1, 1.5, Number.NaN])('is not opened with %s connections', async (connections) => {
    await expect(openPostgres({ url: serverUrl ?? '', connections })).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining('connections'),
    })
  })

  it('is asked without an end where somebody wants no limit of time', async () => {
    const { url, drop } = await createServerDatabase()
    const memory = await openPostgresMemory({ url, timeoutMs: Number.POSITIVE_INFINITY })
    await memory.write('long-term', 'key', 'value')
    expect(await memory.read('long-term', 'key')).toBe('value')
    await memory.close()
    await drop()
  })

  it('that does not answer in time while it is opened is told as at every other call', async () => {
    const { url, database, close } = await openServerDatabase()
    onTestFinished(() => close())
    await database.transaction(async (transaction) => {
      await transaction.execute(sql`lock table store_settings in access exclusive mode`)
      await expect(openPostgresMemory({ url, migrations: false, timeoutMs: 200 })).rejects.toMatchObject({
        code: MemoryErrorCode.TIMEOUT,
        message: expect.not.stringContaining('store_settings'),
      })
    })
  })

  it('that cannot be reached is UNAVAILABLE', async () => {
    const url = 'postgres://postgres@127.0.0.1:1/none'
    await expect(openPostgres({ url })).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
  })

  it('is asked over TLS, and anew when the connection with TLS has gone silent', async () => {
    const front = await openTlsFront(serverUrl ?? '')
    const { database, close } = await openPostgres({
      url: `${front.url}?sslmode=require`,
      migrations: false,
      connections: 1,
      timeoutMs: 100,
    })
    const ask = () => rowsOf(database, sql`select 1 as one`)
    expect(await ask()).toEqual([{ one: 1 }])
    expect(front.secured()).toBe(1)
    front.forget()
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'CONNECTION_CLOSED' } })
    expect(await ask()).toEqual([{ one: 1 }])
    expect(front.secured()).toBe(2)
    await close()
  })

  it('that has no TLS is asked without where TLS is only preferred', async () => {
    const open = (sslmode: string) =>
      openPostgres({ url: `${serverUrl}?sslmode=${sslmode}`, migrations: false })
    const { database, close } = await open('prefer')
    expect(await rowsOf(database, sql`select 1 as one`)).toEqual([{ one: 1 }])
    await close()
    const secure = await open('require')
    const refused = rowsOf(secure.database, sql`select 1`)
    await expect(refused).rejects.toMatchObject({ cause: { code: 'CONNECTION_WITHOUT_TLS' } })
    await secure.close()
  })

  it('that is left before a call could begin is not said to be away', async () => {
    const { url, drop } = await createServerDatabase()
    const memory = await openPostgresMemory({ url, connections: 1 })
    const calls = Array.from({ length: 20 }, (_, i) =>
      memory.write('working', `key ${i}`, i).then(
        () => 'kept',
        (error: Error) => error.message,
      ),
    )
    await memory.close()
    const again = await openPostgresMemory({ url })
    for (const [i, outcome] of (await Promise.all(calls)).entries()) {
      expect(outcome).toMatch(/^kept$|were closed before the call could begin/)
      expect(await again.exists('working', `key ${i}`)).toBe(outcome === 'kept')
    }
    await again.close()
    await drop()
  })

  it('answers the statement after one that failed between its rows with all of its own', async () => {
    const { database, close } = await openPostgres({
      url: serverUrl ?? '',
      migrations: false,
      connections: 1,
    })
    const numbers = sql`select n from generate_series(1, 3) as n`
    const reads = [
      () => rowsOf(database, numbers),
      () => prepared(numbers)(database),
      () => database.select({ n: sql`n` }).from(sql`generate_series(1, 3) as n`),
      () => database.transaction((transaction) => rowsOf(transaction, numbers)),
    ]
    for (const read of reads) {
      const failing = sql`select 1 / (3 - n) from generate_series(1, 9) as n`
      await expect(database.execute(failing)).rejects.toThrow()
      expect(await read()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    }
    await close()
  })

  it('lets a process end that leaves a memory open', async () => {
    const { url, drop } = await createServerDatabase()
    const script = fileURLToPath(new URL('./children/left-open-child.ts', import.meta.url))
    const child = fork(script, [url], { execArgv: ['--import', 'tsx', '-C', '@recall/source'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await once(child, 'exit')).toEqual([0, null])
    const memory = await openPostgresMemory({ url })
    expect(await memory.read('long-term', 'key')).toBe('value')
    await memory.close()
    await drop()
  }, 60_000)

  it('tells nothing of a memory in an error', async () => {
    const { url, drop } = await createServerDatabase()
    const { database, close } = await openPostgres({ url })
    const memory = await openPostgresMemory({ url })
    await database.execute('alter table entries add check (octet_length(value) < 9)')
    const error: unknown = await memory.write('long-term', 'secret key', 'the secret text').catch((e) => e)
    const shown = JSON.stringify([
      error,
      (error as Error).message,
      (error as Error).stack,
      (error as Error).cause,
    ])
    expect(isMemoryError(error, MemoryErrorCode.WRITE_FAILED)).toBe(true)
    expect(shown).not.toContain('secret text')
    await memory.close()
    await close()
    await drop()
  })
})
