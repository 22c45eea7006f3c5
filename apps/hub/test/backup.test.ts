import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createMemoryManager, MemoryErrorCode } from '@recall/core'
import {
  agents,
  createPostgresStore,
  type Database,
  memories,
  rowsOf,
  systemConfig,
} from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { backUpToFile, writeBackup } from '../src/backup/backup.ts'
import { tables } from '../src/backup/format.ts'
import { restoreFromFile } from '../src/backup/restore.ts'
import { emptyTables, engines, lesson, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['pool', 'orders']

/** A database that says how many characters one statement took or returned at most, as JSON. */
function watching(database: Database) {
  let longest = 0
  const note = <T>(value: T): T => {
    longest = Math.max(longest, JSON.stringify(value)?.length ?? 0)
    return value
  }
  const watchedTransaction = (transaction: Database): Database =>
    Object.create(transaction, {
      execute: {
        value: async (statement: SQL) => {
          note(new PgDialect().sqlToQuery(statement).params)
          return note(await transaction.execute(statement))
        },
      },
    })
  const transaction: Database['transaction'] = (run, config) =>
    database.transaction((inner) => run(watchedTransaction(inner) as typeof inner), config)
  const watched: Database = Object.create(database, { transaction: { value: transaction } })
  return { database: watched, longest: () => longest }
}

describe.each(engines)('a hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database(), noLimits)
  })

  it('is copied into a file and out of it again, whole', async () => {
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    // A line separator of Unicode is part of a text, not the end of a row.
    const content = `${lesson('redis')}\u2028${lesson('redis')}`
    const { id } = await ada.save({ content, tags, source_url: 'https://example.com/1' })
    await bob.save({ content: lesson('redis'), tags })
    await bob.cite(id)
    await bob.search(lesson('redis'))
    await ada.memory.write(
      'long-term',
      'note',
      { text: 'Grüße\u0000 \ud83d\ude00', list: [1, 0.1] },
      { embedding: [1, 0] },
    )
    await ada.memory.write('episodic', 'long', `${'A long text.\n\n'.repeat(500)}`)
    const path = join(temporaryFolder(), 'hub.backup')
    const counts = await backUpToFile(database(), path)
    expect(counts).toMatchObject({ agents: 2, memories: 2, citations: 1, entries: 2 })
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
    const unread = {} as Database
    await expect(backUpToFile(unread, path)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    const other = `${path}-of-another`
    writeFileSync(`${other}.unfinished`, 'of another backup')
    await expect(backUpToFile(database(), other)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    expect(readFileSync(`${other}.unfinished`, 'utf8')).toBe('of another backup')
    await expect(backUpToFile(database(), join(path, 'in-a-file'))).rejects.toMatchObject({
      code: MemoryErrorCode.UNAVAILABLE,
      message: expect.stringContaining(`no backup can be written into ${path} (ENOTDIR)`),
    })
    await expect(restoreFromFile(database(), path)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })

    const before = await database().select().from(memories)
    await emptyTables(database())
    const nothing = `${path}-of-nothing`
    await expect(backUpToFile(database(), nothing)).rejects.toMatchObject({ code: MemoryErrorCode.NOT_FOUND })
    expect([existsSync(nothing), existsSync(`${nothing}.unfinished`)]).toEqual([false, false])
    // As in the new database that it is restored into.
    await database().execute(sql`select setval(pg_get_serial_sequence('entries', 'version'), 1, false)`)
    expect(await restoreFromFile(database(), path)).toEqual(counts)
    expect(await database().select().from(memories)).toEqual(expect.arrayContaining(before))
    const again = await openHub(database(), noLimits)
    const answer = await again.request('GET', `/api/v1/memory/${id}`, { key: bob.key })
    expect(((await answer.json()) as { memory: { related: unknown[] } }).memory.related).toHaveLength(1)
    expect(await ada.memory.read('long-term', 'note')).toEqual({
      text: 'Grüße\u0000 \ud83d\ude00',
      list: [1, 0.1],
    })
    await ada.memory.write('long-term', 'note', 'goes on')
    const newest = sql`select key from entries order by version desc limit 1`
    expect(await rowsOf(database(), newest)).toEqual([{ key: 'note' }])
  })

  it('is copied before its first start, and restored where another one has started', async () => {
    await hub.agent('ada')
    await database().delete(systemConfig)
    const path = join(temporaryFolder(), 'hub.backup')
    const counts = await backUpToFile(database(), path)
    expect(counts).toMatchObject({ agents: 1, entries: 0, system_config: 0 })
    await emptyTables(database())
    await openHub(database())
    expect(await restoreFromFile(database(), path)).toEqual(counts)
    expect(await database().$count(systemConfig)).toBe(0)
  })

  it('is copied and restored a little at a time, however much its entries hold', async () => {
    const ada = await hub.agent('ada')
    const value = 'A long text. '.repeat(20_000)
    for (let i = 0; i < 80; i++) await ada.memory.write('long-term', `long-${i}`, value, { index: false })
    const path = join(temporaryFolder(), 'hub.backup')
    const watched = watching(database())
    const counts = await backUpToFile(watched.database, path)
    await emptyTables(database())
    expect(await restoreFromFile(watched.database, path)).toEqual(counts)
    expect(counts.entries).toBe(80)
    expect(watched.longest()).toBeGreaterThan(value.length)
    expect(watched.longest()).toBeLessThan(8_000_000)
  })

  it('is not said to be out of reach when only the output cannot be written', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' })
    const output = new Writable({ write: (_chunk, _encoding, done) => done(full) })
    await expect(writeBackup(database(), output)).rejects.toBe(full)
  })

  it('is copied over no file that was made meanwhile', async () => {
    const path = join(temporaryFolder(), 'hub.backup')
    const transaction: Database['transaction'] = async (run, config) => {
      const result = await database().transaction(run, config)
      writeFileSync(path, 'of somebody else')
      return result
    }
    const slow: Database = Object.create(database(), { transaction: { value: transaction } })
    await expect(backUpToFile(slow, path)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
    expect(readFileSync(path, 'utf8')).toBe('of somebody else')
    expect(existsSync(`${path}.unfinished`)).toBe(false)
  })

  it('does not repeat what people wrote when the database refuses a row', async () => {
    const ada = await hub.agent('ada', 1)
    await ada.save({ content: lesson('redis'), tags })
    await ada.memory.write('working', 'note', 'restored after what is refused')
    const path = join(temporaryFolder(), 'hub.backup')
    await backUpToFile(database(), path)
    await emptyTables(database())
    const rows = gunzipSync(readFileSync(path)).toString('utf8')
    writeFileSync(path, gzipSync(rows.replace('"quality":0', '"quality":5')))
    const refused = await restoreFromFile(database(), path).catch((error: Error) => error)
    const checkViolation = { postgres: '23514' }
    expect(refused).toMatchObject({ code: MemoryErrorCode.WRITE_FAILED, details: checkViolation })
    expect(String((refused as Error).message)).not.toContain('redis')
    expect(await database().$count(memories)).toBe(0)
  })

  it('restores nothing from a file that is not whole', async () => {
    await (await hub.agent('ada', 1)).save({ content: lesson('redis'), tags })
    const folder = temporaryFolder()
    const path = join(folder, 'hub.backup')
    await backUpToFile(database(), path)
    await emptyTables(database())
    const size = readFileSync(path).length
    truncateSync(path, size - 20)
    await expect(restoreFromFile(database(), path)).rejects.toMatchObject({
      code: MemoryErrorCode.CORRUPTION,
    })
    writeFileSync(path, 'no backup')
    await expect(restoreFromFile(database(), path)).rejects.toMatchObject({
      code: MemoryErrorCode.CORRUPTION,
    })
    await expect(restoreFromFile(database(), join(folder, 'absent'))).rejects.toMatchObject({
      code: MemoryErrorCode.NOT_FOUND,
    })
    expect(await database().$count(memories)).toBe(0)
  })

  it.each([
    ['of another program', '"recall-hub-backup"', '"backup"', MemoryErrorCode.CORRUPTION],
    ['of another format', '"version":1', '"version":2', MemoryErrorCode.CORRUPTION],
    ['of other tables', '"schema":"', '"schema":"0', MemoryErrorCode.NOT_SUPPORTED],
    [
      'with a row of a table that it leaves out',
      /^end/m,
      'rate_limits\t{"key":"a"}\nend',
      MemoryErrorCode.CORRUPTION,
    ],
    ['without a row', /^agents\t.*\n/m, '', MemoryErrorCode.CORRUPTION],
    ['without its end', /^end\t.*\n/m, '', MemoryErrorCode.CORRUPTION],
    ['with something behind its end', /$/, 'agents', MemoryErrorCode.CORRUPTION],
  ])('restores nothing from a backup %s', async (_, own, other, code) => {
    const path = join(temporaryFolder(), 'hub.backup')
    await hub.agent('ada')
    await backUpToFile(database(), path)
    await emptyTables(database())
    const rows = gunzipSync(readFileSync(path)).toString('utf8')
    writeFileSync(path, gzipSync(rows.replace(own, other)))
    await expect(restoreFromFile(database(), path)).rejects.toMatchObject({ code })
    expect(await database().$count(agents)).toBe(0)
  })

  it('restores nothing once a version has changed the tables', async () => {
    const path = join(temporaryFolder(), 'hub.backup')
    await backUpToFile(database(), path)
    await emptyTables(database())
    const later = 'of a later version'
    await database().execute(sql`
      insert into drizzle.__drizzle_migrations (hash, created_at)
      select ${later}, max(created_at) + 1 from drizzle.__drizzle_migrations`)
    onTestFinished(async () => {
      await database().execute(sql`delete from drizzle.__drizzle_migrations where hash = ${later}`)
    })
    await expect(restoreFromFile(database(), path)).rejects.toMatchObject({
      code: MemoryErrorCode.NOT_SUPPORTED,
    })
  })

  it.each([
    ['an agent', () => hub.agent('ada')],
    [
      'the memory of somebody who is no agent',
      () =>
        createMemoryManager({ stores: createPostgresStore(database()) }).write('long-term', 'note', 'mine'),
    ],
  ])('restores nothing into a database that holds %s', async (_, fill) => {
    const path = join(temporaryFolder(), 'hub.backup')
    await backUpToFile(database(), path)
    await fill()
    await expect(restoreFromFile(database(), path)).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
  })

  it('leaves out of a backup what is made again or soon expires, and no other table', async () => {
    const all = await rowsOf<{ name: string }>(
      database(),
      sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
    )
    const left = all.map(({ name }) => name).filter((name) => !(tables as readonly string[]).includes(name))
    expect(left.toSorted()).toEqual(['place_sizes', 'rate_limits'])
  })

  it('says that a file is damaged, whatever the database makes of its rows', async () => {
    const ada = await hub.agent('ada', 1)
    await ada.save({ content: lesson('redis'), tags })
    // So much that the rows before it are restored before the end is read.
    await ada.memory.write('working', 'large', randomBytes(300_000).toString('base64'), { index: false })
    const path = join(temporaryFolder(), 'hub.backup')
    await backUpToFile(database(), path)
    await emptyTables(database())
    const rows = gunzipSync(readFileSync(path)).toString('utf8')
    for (const quality of ['5', 'x', '}']) {
      const bytes = gzipSync(rows.replace('"quality":0', `"quality":${quality}`))
      // The checksum, by which it is seen that a byte is not as it was written.
      bytes[bytes.length - 8] = (bytes[bytes.length - 8] ?? 0) ^ 1
      writeFileSync(path, bytes)
      await expect(restoreFromFile(database(), path)).rejects.toMatchObject({
        code: MemoryErrorCode.CORRUPTION,
      })
    }
  })
})

// server-database.ts says when there is no server; an embedded database has one connection.
it.skipIf(!serverUrl)('no table is changed before a backup that is under way has read it', async () => {
  const { database, close } = await openServerDatabase()
  onTestFinished(close)
  await (await openHub(database, noLimits)).agent('ada')
  const alter = async (): Promise<string> => {
    try {
      await database.transaction(async (transaction) => {
        await transaction.execute(sql`set local lock_timeout = 100`)
        await transaction.execute(sql`alter table entries add column another float8`)
      })
      return 'changed'
    } catch (error) {
      return (error as { cause: { code: string } }).cause.code
    }
  }
  const lockNotAvailable = '55P03'
  const answers: string[] = []
  const transaction: Database['transaction'] = (run, config) =>
    database.transaction((inner) => {
      const execute = async (statement: SQL) => {
        const { sql: text } = new PgDialect().sqlToQuery(statement)
        if (text.includes('declare') && answers.length === 0) answers.push(await alter())
        return inner.execute(statement)
      }
      return run(Object.create(inner, { execute: { value: execute } }))
    }, config)
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  await writeBackup(Object.create(database, { transaction: { value: transaction } }), output)
  expect(answers).toEqual([lockNotAvailable])
})
