import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import { type Embedder, isMemoryError, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { prepared, rowsOf } from '../src/engines/database.ts'
import { lockFolder } from '../src/engines/folder-lock.ts'
import { syncAllBelow } from '../src/engines/syncing-files.ts'
import { openPglite, openPgliteMemory } from '../src/pglite.ts'
import { openPostgres, openPostgresMemory } from '../src/postgres.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { agents } from '../src/schema/hub.ts'
import { createVectorIndexes, vectorIndexNames } from '../src/search/vector-index.ts'
import { createServerDatabase, openServerDatabase, serverUrl } from './server-database.ts'
import { runOnSmallDisk } from './small-disk.ts'
import { template } from './template.ts'

const folders: string[] = []
const children: ChildProcess[] = []
const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'recall-postgres-'))
  folders.push(folder)
  return folder
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const refusal = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call()
  } catch (error) {
    return isMemoryError(error) ? error.code : error
  }
}

describe('an embedded database', () => {
  it('says of a place that holds no folder what is wrong with it', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    for (const folder of ['', 1, null]) {
      const open = () => openPgliteMemory({ folder: folder as string })
      expect(await refusal(open)).toBe(MemoryErrorCode.INVALID_INPUT)
    }
    for (const folder of [file, join(file, 'below')]) {
      expect(await refusal(() => openPgliteMemory({ folder }))).toBe(MemoryErrorCode.UNAVAILABLE)
    }
  })

  it('keeps what it acknowledged when its process is killed, and then opens again', async () => {
    const folder = temporaryFolder()
    const child = startWriter(folder)
    const acknowledged: string[] = []
    child.on('message', (key) => acknowledged.push(String(key)))
    while (acknowledged.length < 25) await once(child, 'message')
    expect(await refusal(() => openPglite({ folder }))).toBe(MemoryErrorCode.CONFLICT)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const memory = await openPgliteMemory({ folder })
    const kept = await memory.batchRead('long-term', acknowledged)
    expect([...kept.keys()]).toEqual(acknowledged)
    await memory.close()
  })

  it('closes once, however often it is told to, and lets go of its folder', async () => {
    const folder = temporaryFolder()
    const { close } = await openPglite({ folder, template: await template() })
    await Promise.all([close(), close()])
    const again = await openPglite({ folder })
    await close()
    expect(await refusal(() => openPglite({ folder }))).toBe(MemoryErrorCode.CONFLICT)
    await again.close()
  })

  it('indexes vectors in full precision, also where an earlier version did so in half', async () => {
    const { database, close } = await openPglite({ template: await template() })
    const indexed = async (): Promise<string | undefined> => {
      const [index] = await rowsOf<{ made: string }>(
        database,
        sql`select indexdef as made from pg_indexes where indexname = 'units_embedding_3'`,
      )
      return /::(\w+)\(3\)/.exec(index?.made ?? '')?.[1]
    }
    await database.execute(
      'create index units_embedding_3 on units using hnsw ((embedding::halfvec(3)) halfvec_cosine_ops) where vector_dims(embedding) = 3',
    )
    expect(await indexed()).toBe('halfvec')
    await createVectorIndexes(database, { table: 'units', dimensions: 3 }, { concurrently: false })
    expect(await indexed()).toBe('vector')
    await close()
  })

  it('finds by meaning, with an index of the vectors, also once it is opened again', async () => {
    const folder = temporaryFolder()
    const embed: Embedder['embed'] = async (texts) =>
      texts.map((text) => Float32Array.from(/ship|boat/.test(text) ? [1, 0, 0] : [0, 1, 0]))
    const open = () => openPgliteMemory({ folder, embedder: { model: 'boats', dimensions: 3, embed } })
    const first = await open()
    await first.write('long-term', 'harbour', 'a ship at the pier')
    await first.close()
    const again = await open()
    expect(await again.search('long-term', { text: 'boat' })).toMatchObject([
      { key: 'harbour', mode: 'hybrid' },
    ])
    await again.close()
    const { database, close } = await openPglite({ folder })
    const made = await rowsOf(database, sql`select from pg_indexes where indexname = 'units_embedding_3'`)
    expect(made).toHaveLength(1)
    await close()
  })

  it('is free again when an option of the memory was refused', async () => {
    const folder = temporaryFolder()
    const wrong = { folder, encryptionKey: new Uint8Array(3) }
    expect(await refusal(() => openPgliteMemory(wrong))).toBe(MemoryErrorCode.INVALID_INPUT)
    const memory = await openPgliteMemory({ folder })
    await memory.close()
  })

  it('makes no store when it is handed over with what came along with it', async () => {
    const opened = await openPglite({})
    onTestFinished(() => opened.close())
    expect(() => createPostgresStore(opened as never)).toThrow('such as the `database` that openPostgres')
    await opened.database.transaction(async (transaction) => {
      expect(createPostgresStore(transaction).name).toBe('postgres')
    })
  })

  it('is closed to other users, also one that was open to them before', async () => {
    const folder = join(temporaryFolder(), 'new')
    const data = join(folder, 'data')
    const modeOf = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8)
    const before = process.umask(0)
    try {
      await (await openPglite({ folder, template: await template() })).close()
      expect([folder, data].map(modeOf)).toEqual(['700', '700'])
      fs.chmodSync(folder, 0o755)
      fs.chmodSync(data, 0o755)
      await (await openPglite({ folder })).close()
      // The folder may be a person's own and hold other things; what we made in it is ours.
      expect([folder, data].map(modeOf)).toEqual(['755', '700'])
    } finally {
      process.umask(before)
    }
  })

  it('may be closed while calls are under way: each is answered or refused', async () => {
    const { database, close } = await openPglite({ template: await template() })
    const { stats } = createPostgresStore(database)
    const count = (): Promise<unknown> => refusal(() => stats({ namespace: 'default', scope: 'working' }))
    const calls = [count(), count(), count()]
    await close()
    const nothing = { entries: 0, bytes: 0 }
    for (const answer of [...(await Promise.all(calls)), await count()])
      expect([nothing, MemoryErrorCode.UNAVAILABLE]).toContainEqual(answer)
  })

  it('gives the folder back also when it cannot be closed in good order', async () => {
    const folder = temporaryFolder()
    const { close } = await openPglite({ folder, template: await template() })
    const closing = vi.spyOn(PGlite.prototype, 'close').mockImplementation(async function (this: PGlite) {
      closing.mockRestore()
      await this.close()
      throw new Error('no space is left')
    })
    await expect(close()).rejects.toThrow('no space is left')
    lockFolder(folder).release()
  })

  it('is closed again, and free, where the disk refuses to keep its new files', async () => {
    const folder = fs.realpathSync(temporaryFolder())
    const { openSync } = fs
    const opening = vi.spyOn(fs, 'openSync').mockImplementation((path, ...how) => {
      if (path === folder) throw Object.assign(new Error('EIO'), { code: 'EIO' })
      return openSync(path, ...how)
    })
    const closing = vi.spyOn(PGlite.prototype, 'close')
    await expect(openPglite({ folder, template: await template() })).rejects.toThrow('EIO')
    opening.mockRestore()
    expect(closing).toHaveBeenCalledOnce()
    closing.mockRestore()
    await (await openPglite({ folder })).close()
  })

  it('syncs each write before it returns', async () => {
    const memory = await openPgliteMemory({ folder: temporaryFolder(), template: await template() })
    const sync = vi.spyOn(fs, 'fsyncSync')
    await memory.write('long-term', 'key', 'value')
    expect(sync).toHaveBeenCalled()
    sync.mockRestore()
    await memory.close()
  })

  it('reports a write that the disk refused, and does not keep it', async () => {
    const folder = temporaryFolder()
    const memory = await openPgliteMemory({ folder, template: await template() })
    await memory.write('long-term', 'before', 'value')
    const sync = vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    })
    expect(await refusal(() => memory.write('long-term', 'refused', 'value'))).not.toBe(undefined)
    sync.mockRestore()
    await memory.close().catch(() => {})
    const again = await openPgliteMemory({ folder })
    expect(await again.read('long-term', 'before')).toBe('value')
    await again.close()
  })

  it('ends when its log cannot grow, says so, and goes on by itself when there is room again', ({ skip }) => {
    const ran = runOnSmallDisk(new URL('full-disk-child.ts', import.meta.url), temporaryFolder())
    if ('refused' in ran) skip(`no small disk can be mounted here: ${ran.refused}`)
    else expect(ran.output).toMatch(/^ok /m)
  })
})

it('syncs a folder on Windows, which opens none and syncs only what may be written', () => {
  const folder = temporaryFolder()
  fs.mkdirSync(join(folder, 'base'))
  writeFileSync(join(folder, 'base', 'PG_VERSION'), '17')
  const { platform } = process
  const { openSync } = fs
  const opened = vi.spyOn(fs, 'openSync').mockImplementation((path, flags, mode) => {
    if (flags === 'r') throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    return openSync(path, flags, mode)
  })
  try {
    Object.defineProperty(process, 'platform', { value: 'win32' })
    syncAllBelow(folder)
    expect(opened).toHaveBeenCalledExactlyOnceWith(join(folder, 'base', 'PG_VERSION'), 'r+')
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
    opened.mockRestore()
  }
})

describe('the lock of a folder', () => {
  it('lets one in, and the next when that one has let go', () => {
    const folder = temporaryFolder()
    const first = lockFolder(folder)
    expect(() => lockFolder(folder)).toThrow(/is open in process/)
    first.release()
    lockFolder(folder).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is never taken from a process that lives, also when its note is old', () => {
    const folder = temporaryFolder()
    const held = lockFolder(folder)
    for (const name of readdirSync(folder)) fs.utimesSync(join(folder, name), 0, 0)
    expect(() => lockFolder(folder)).toThrow(/is open in process/)
    held.release()
  })

  it('passes over the note of a dead process, and of one whose id another process has now', () => {
    const folder = temporaryFolder()
    const held = lockFolder(folder)
    const [name] = readdirSync(folder)
    const note = JSON.parse(readFileSync(join(folder, name ?? ''), 'utf8'))
    held.release()
    writeFileSync(join(folder, 'lock-1-a-1.json'), JSON.stringify({ ...note, pid: 2 ** 22 + 1 }))
    writeFileSync(join(folder, 'lock-2-b-1.json'), JSON.stringify({ ...note, started: note.started + 1 }))
    lockFolder(folder).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('heeds a note that is half written while its writer lives, and no longer', () => {
    const folder = temporaryFolder()
    const begun = join(folder, `lock-${process.pid}-a-1.json`)
    for (const half of ['', '{"pid": 1']) {
      writeFileSync(begun, half)
      expect(() => lockFolder(folder)).toThrow(`is open in process ${process.pid} `)
    }
    fs.renameSync(begun, join(folder, `lock-${2 ** 22 + 1}-a-1.json`))
    lockFolder(folder).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('goes on where the folder cannot be reached for a moment', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const folder = temporaryFolder()
      const held = lockFolder(folder)
      const [name = ''] = readdirSync(folder)
      fs.utimesSync(join(folder, name), 0, 0)
      const away = `${folder}-away`
      fs.renameSync(folder, away)
      vi.advanceTimersByTime(15 * 60 * 1000)
      fs.renameSync(away, folder)
      vi.advanceTimersByTime(15 * 60 * 1000)
      expect(fs.statSync(join(folder, name)).mtimeMs).toBeGreaterThan(0)
      held.release()
    } finally {
      vi.useRealTimers()
    }
  })

  it('heeds a note from elsewhere for an hour', () => {
    const folder = temporaryFolder()
    const note = join(folder, 'lock-3-c-1.json')
    writeFileSync(note, JSON.stringify({ pid: 1, started: 1, place: 'ffffffff', host: 'another machine' }))
    expect(() => lockFolder(folder)).toThrow(/another/)
    const twoHoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
    fs.utimesSync(note, twoHoursAgo, twoHoursAgo)
    lockFolder(folder).release()
  })
})

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

  it('gets an index for each kind of memories in place of the one for all that earlier versions made', async () => {
    const { url, drop } = await createServerDatabase()
    const earlier = await openPostgres({ url })
    await earlier.database.execute(
      'create index memories_embedding_3 on memories using hnsw ((embedding::halfvec(3)) halfvec_cosine_ops) where vector_dims(embedding) = 3',
    )
    const column = { table: 'memories', dimensions: 3 } as const
    const { close } = await openPostgres({ url, indexed: [column] })
    const found = await rowsOf<{ name: string }>(
      earlier.database,
      sql`select indexname as name from pg_indexes where tablename = 'memories' and indexdef like '%hnsw%' order by name`,
    )
    expect(found.map(({ name }) => name)).toEqual(vectorIndexNames(column).sort())
    await close()
    await earlier.close()
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
    expect(await refusal(() => openPostgres({ url }))).toBe(MemoryErrorCode.UNAVAILABLE)
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

function startWriter(folder: string): ChildProcess {
  const script = fileURLToPath(new URL('./writer-child.ts', import.meta.url))
  const child = fork(script, [folder], { execArgv: ['--import', 'tsx', '-C', '@recall/source'] })
  children.push(child)
  return child
}
