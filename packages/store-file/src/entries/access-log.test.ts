import { join } from 'node:path'
import type { Address, Entry } from '@recall/core'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
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
  expect(read(1, 2)).toEqual({ at: 5, count: 2, expires: null })
  expect([slid(1), slid(2)]).toEqual([10, null])
  count(1, 2, 6, 9)
  expect(read(1, 2)).toEqual({ at: 6, count: 3, expires: 9 })
  expect(read(7, 7)).toBe(null)
  count(7, 7, 4, null)
  expect(read(7, 7)).toEqual({ at: 4, count: 1, expires: null })
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
  expect(() => log.compact()).toThrow(/access\.db may still name memories that were deleted/)
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
