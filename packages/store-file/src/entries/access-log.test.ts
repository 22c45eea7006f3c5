import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Address, Entry } from '@recall/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqliteFailure } from '../../test/support/sqlite-failure.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { loadSqlite, type OpenDatabase } from '../sqlite/driver.ts'
import { createAccessLog } from './access-log.ts'

const address: Address = { scope: 'long-term', namespace: 'default', key: 'note' }
const entry: Entry = {
  ...address,
  value: 'text',
  text: 'text',
  type: null,
  tags: [],
  createdAt: 1,
  updatedAt: 1,
  accessedAt: 1,
  accessCount: 0,
  ttl: null,
  expiresAt: null,
  encrypted: false,
  embedding: null,
}

/** A database that is held is busy at once. */
const waitingForNobody =
  (openDatabase: OpenDatabase): OpenDatabase =>
  (path) => {
    const database = openDatabase(path)
    return {
      exec: (sql) => database.exec(sql.replace(/busy_timeout = \d+/, 'busy_timeout = 0')),
      prepare: (sql) => database.prepare(sql),
      function: (name, call) => database.function(name, call),
      close: () => database.close(),
    }
  }

it('counts for each entry that had the address, and has an expiry for each of its versions', async () => {
  const log = createAccessLog(defaultFileSystem, await loadSqlite(), temporaryRoot(), () => {})
  const count = (created: number, updated: number, at: number, expires: number | null): void =>
    log.record([{ address, version: { created, updated }, expires }], at)
  const read = (created: number, updated: number) => log.read(address, { created, updated })
  const slid = (updated: number) => log.slidExpiry('long-term', 'default', 'note', updated)

  count(1, 1, 5, 10)
  // A clock may go back.
  count(1, 1, 3, 8)
  expect(read(1, 1)).toEqual({ at: 5, count: 2, expires: 10 })
  expect(read(1, 2)).toEqual({ at: 0, count: 2, expires: null })
  expect([slid(1), slid(2)]).toEqual([10, null])
  const keptAlive = (updated: number, now: number) => log.keptAlive([{ ...address, updated }], now)
  expect(keptAlive(1, 9)).toEqual([{ ...address, updated: 1, expires: 10 }])
  expect([keptAlive(1, 10), keptAlive(2, 9)]).toEqual([[], []])
  count(1, 2, 6, 9)
  expect(read(1, 2)).toEqual({ at: 6, count: 3, expires: 9 })
  expect(read(7, 7)).toBe(null)
  count(7, 7, 4, null)
  expect(read(7, 7)).toEqual({ at: 4, count: 1, expires: null })
  log.close()
})

it('keeps the expiry and the accesses of a version where one to an earlier version is counted late', async () => {
  const log = createAccessLog(defaultFileSystem, await loadSqlite(), temporaryRoot(), () => {})
  const count = (created: number, updated: number, at: number, expires: number): void =>
    log.record([{ address, version: { created, updated }, expires }], at)
  const read = (created: number, updated: number) => log.read(address, { created, updated })

  count(1, 2, 900, 1900)
  count(1, 1, 10, 1010)
  expect(read(1, 2)).toEqual({ at: 900, count: 2, expires: 1900 })
  count(5, 5, 950, 1950)
  count(1, 2, 940, 1940)
  expect(read(5, 5)).toEqual({ at: 950, count: 1, expires: 1950 })
  // Times of a version that a person set back, or a file that came from a backup.
  count(5, 4, 960, 1960)
  expect(read(5, 4)).toEqual({ at: 960, count: 2, expires: 1960 })
  count(3, 3, 970, 1970)
  expect(read(3, 3)).toEqual({ at: 970, count: 1, expires: 1970 })
  log.close()
})

it('begins with the accesses that a new entry brings along, unless it has some already', async () => {
  const log = createAccessLog(defaultFileSystem, await loadSqlite(), temporaryRoot(), () => {})
  const begin = (createdAt: number, accessCount: number): void =>
    log.startAnew({ ...entry, createdAt, updatedAt: createdAt, accessCount })
  const countOf = (created: number) => log.read(address, { created, updated: created })?.count
  begin(1, 4)
  expect(countOf(1)).toBe(4)
  begin(1, 9)
  expect(countOf(1)).toBe(4)
  begin(2, 0)
  expect([countOf(1), countOf(2)]).toEqual([undefined, undefined])
  log.close()
})

it('stays as it is while it is copied', async () => {
  const folder = temporaryRoot()
  const openDatabase = waitingForNobody(await loadSqlite())
  const [log, other] = [1, 2].map(() => createAccessLog(defaultFileSystem, openDatabase, folder, () => {}))
  const version = { created: 1, updated: 1 }
  const count = () => other?.record([{ address, version, expires: null }], 2)
  const counted = () => log?.read(address, version)?.count
  count()
  log?.withoutCounting(count)
  expect(counted()).toBe(1)
  count()
  expect(counted()).toBe(2)
  log?.close()
  other?.close()
})

it('costs nobody an entry while another process holds it', async () => {
  const folder = temporaryRoot()
  const openDatabase = await loadSqlite()
  const impatient = waitingForNobody(openDatabase)
  const notices: string[] = []
  const log = createAccessLog(defaultFileSystem, impatient, folder, (text) => notices.push(text))
  const version = { created: 1, updated: 1 }
  log.record([{ address, version, expires: null }], 2)

  const other = openDatabase(join(folder, 'access.db'))
  other.exec('BEGIN IMMEDIATE')
  log.record([{ address, version, expires: null }], 3)
  log.forget([address])
  expect(() => log.compact([])).toThrow(/access\.db may still name memories that were deleted/)
  expect(log.read(address, version)).toEqual({ at: 2, count: 1, expires: null })
  expect(notices).toEqual([expect.stringContaining('held by another process')])

  other.exec('ROLLBACK')
  other.close()
  log.record([{ address, version, expires: null }], 4)
  expect(log.read(address, version)).toEqual({ at: 4, count: 2, expires: null })

  const again = openDatabase(join(folder, 'access.db'))
  again.exec('BEGIN IMMEDIATE')
  log.record([{ address, version, expires: null }], 5)
  again.close()
  expect(notices).toHaveLength(2)
  log.close()
})

it('is not made by whoever counts nothing', async () => {
  const folder = temporaryRoot()
  const log = createAccessLog(defaultFileSystem, await loadSqlite(), folder, () => {})
  const version = { created: 1, updated: 1 }
  expect(log.read(address, version)).toBe(null)
  expect(log.slidExpiry('long-term', 'default', 'note', 1)).toBe(null)
  expect(log.all('long-term', 'default')).toEqual(new Map())
  expect(log.withoutCounting(() => 'copied')).toBe('copied')
  log.assertReadable()
  log.forget([address])
  log.compact([])
  log.startAnew({ ...entry, accessCount: 0 })
  expect(readdirSync(folder)).toEqual([])

  log.record([{ address, version, expires: null }], 2)
  log.assertReadable()
  log.compact([])
  expect(log.all('long-term', 'default')).toEqual(
    new Map([['note', { key: 'note', ...version, at: 2, count: 1, expires: null }]]),
  )
  log.close()
})

describe('while it cannot be written', () => {
  const version = { created: 1, updated: 1 }

  async function failingLog(failure: () => Error | undefined) {
    const folder = temporaryRoot()
    const openDatabase = await loadSqlite()
    const notices: string[] = []
    let opened = 0
    const open: OpenDatabase = (path) => {
      opened++
      const error = failure()
      if (error) throw error
      return openDatabase(path)
    }
    const log = createAccessLog(
      defaultFileSystem,
      open,
      folder,
      (text) => notices.push(text),
      () => 0,
    )
    const count = (at: number): void => log.record([{ address, version, expires: null }], at)
    return { log, count, notices, opened: () => opened }
  }

  it('says once that the disk is full, and counts again when it is not', async () => {
    let failure: Error | undefined
    const { log, count, notices } = await failingLog(() => failure)
    for (const round of [1, 2]) {
      failure = sqliteFailure('database or disk is full', 13)
      for (const at of [3, 4]) {
        count(at)
        expect(notices).toHaveLength(round)
      }
      failure = undefined
      count(5)
      log.close()
    }
    expect(notices[0]).toContain('access.db cannot be written, the disk is full')
    expect(log.read(address, version)).toEqual({ at: 5, count: 2, expires: null })
    log.close()
  })

  it('tries a disk that may only be read no second time at once, and says nothing', async () => {
    const { log, count, notices, opened } = await failingLog(() =>
      sqliteFailure('unable to open database file', 14),
    )
    count(2)
    count(3)
    expect(log.read(address, version)).toBe(null)
    expect([opened(), notices]).toEqual([1, []])
  })
})

describe('a log that cannot be opened', () => {
  /** A log that is there, and what SQLite fails with from now on. */
  async function closedLog() {
    const folder = temporaryRoot()
    const openDatabase = await loadSqlite()
    const failing: { with?: Error; on: (sql: string) => boolean } = { on: () => true }
    const failIfTold = (sql: string): void => {
      if (failing.with && failing.on(sql)) throw failing.with
    }
    const open: OpenDatabase = (path) => {
      failIfTold('')
      const database = openDatabase(path)
      return {
        exec: (sql) => {
          failIfTold(sql)
          database.exec(sql)
        },
        prepare: (sql) => database.prepare(sql),
        function: (name, call) => database.function(name, call),
        close: () => database.close(),
      }
    }
    const time = { now: 0 }
    const notices: string[] = []
    const log = createAccessLog(
      defaultFileSystem,
      open,
      folder,
      (text) => void notices.push(text),
      () => time.now,
    )
    const count = (at: number): void =>
      log.record([{ address, version: { created: 1, updated: 1 }, expires: 10 * at }], at)
    const read = () => log.read(address, { created: 1, updated: 1 })
    count(5)
    log.close()
    // As the end of the process does.
    const other = openDatabase(join(folder, 'access.db'))
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    other.close()
    onTestFinished(() => log.close())
    return { log, folder, failing, time, notices, count, read }
  }

  it('is read nevertheless where no file can be made beside it, and counted in again when one can', async () => {
    const { log, folder, failing, time, notices, count, read } = await closedLog()
    failing.with = sqliteFailure('disk I/O error', 4874)
    failing.on = (sql) => sql.includes('journal_mode')
    expect(read()).toEqual({ at: 5, count: 1, expires: 50 })
    count(6)
    log.assertReadable()
    expect(read()).toEqual({ at: 5, count: 1, expires: 50 })
    expect(notices).toEqual([])
    expect(readdirSync(folder).join()).not.toContain('corrupt')
    delete failing.with
    time.now += 1000
    count(7)
    expect(read()).toEqual({ at: 7, count: 2, expires: 70 })
  })

  it('counts nothing and keeps nobody from reading where nothing could be written into it', async () => {
    const { log, folder, failing, time, count, read } = await closedLog()
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    writeFileSync(join(folder, 'access.db'), '')
    failing.with = sqliteFailure('database or disk is full', 13)
    failing.on = (sql) => sql.includes('journal_mode')
    count(6)
    expect(read()).toBe(null)
    expect(log.all('long-term', 'default')).toEqual(new Map())
    log.assertReadable()
    log.forget([address])
    log.compact([])
    delete failing.with
    time.now += 1000
    count(7)
    expect(read()).toEqual({ at: 7, count: 1, expires: 70 })
  })

  it('is tried again after a second, and lets nothing count as expired meanwhile', async () => {
    const { log, failing, time, read } = await closedLog()
    failing.with = sqliteFailure('unable to open database file', 14)
    expect(read()).toBe(null)
    expect(() => log.assertReadable()).toThrow('it is unknown which memories were read lately')
    delete failing.with
    time.now += 999
    expect(() => log.assertReadable()).toThrow('it is unknown')
    time.now += 1
    log.assertReadable()
    expect(read()).toEqual({ at: 5, count: 1, expires: 50 })
  })
})
