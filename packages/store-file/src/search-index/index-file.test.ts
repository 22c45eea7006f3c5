import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
import { loadSqlite } from './driver.ts'
import {
  comesOfDamage,
  isBusy,
  isDamage,
  isDiskFull,
  isUnwritable,
  passesCheck,
  useWriteAheadLog,
} from './index-file.ts'

const failure = (message: string, errcode?: number): Error =>
  Object.assign(new Error(message), {
    code: 'ERR_SQLITE_ERROR',
    ...(errcode === undefined ? {} : { errcode }),
  })

it('knows what failed by the code of SQLite, and by its words where the driver gives no code', () => {
  // 267 is 11, with more detail.
  expect(isDamage(failure('database disk image is malformed', 267))).toBe(true)
  expect(isDamage(failure('database disk image is malformed'))).toBe(true)
  expect(isDamage(failure('fts5: corruption found reading blob 10 from table "words2"'))).toBe(true)
  expect(isDamage(failure('file is not a database'))).toBe(true)
  expect(isDamage(failure('disk I/O error'))).toBe(true)
  // 1555 is 19, with more detail: a table holds a row that another one knows nothing of.
  expect(isDamage(failure('UNIQUE constraint failed: documents.id', 1555))).toBe(true)
  expect(isDamage(failure('constraint failed'))).toBe(true)
  expect(isBusy(failure('database is locked'))).toBe(true)
  expect(isDiskFull(failure('database or disk is full'))).toBe(true)
  expect(isUnwritable(failure('attempt to write a readonly database'))).toBe(true)
  expect(isUnwritable(failure('unable to open database file'))).toBe(true)
})

it('takes no other failure for one of them', () => {
  const others = [
    failure('no such table: words0', 1),
    failure('no such table: words0'),
    new Error('database is locked'),
  ]
  for (const each of others)
    for (const is of [isDamage, isBusy, isDiskFull, isUnwritable]) expect(is(each)).toBe(false)
})

it('asks the database whether a mistake in a call comes of nonsense in its rows', async () => {
  const open = await loadSqlite()
  const path = join(temporaryRoot(), 'index.db')
  const whole = open(path)
  whole.exec("CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('harbour')")
  const isIntact = (): boolean => passesCheck(whole)
  expect(comesOfDamage(new TypeError('received null'), isIntact)).toBe(false)
  expect(comesOfDamage(failure('database disk image is malformed', 11), isIntact)).toBe(true)
  whole.close()
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, 4096))
  const damaged = open(path)
  const isIntactNow = (): boolean => passesCheck(damaged)
  expect(comesOfDamage(new TypeError('received null'), isIntactNow)).toBe(true)
  expect(comesOfDamage(new RangeError('invalid time'), isIntactNow)).toBe(true)
  expect(comesOfDamage(new Error('no such file'), isIntactNow)).toBe(false)
  damaged.close()
})

it('waits for a process that opens the same new database, and for nothing else', () => {
  const failures = [failure('database is locked', 5), failure('database is locked')]
  let calls = 0
  useWriteAheadLog({
    exec() {
      const next = failures[calls++]
      if (next) throw next
    },
  })
  expect(calls).toBe(3)
  const broken = failure('file is not a database', 26)
  const exec = (): void => {
    throw broken
  }
  expect(() => useWriteAheadLog({ exec })).toThrow(broken)
})
