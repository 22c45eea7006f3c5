import { expect, it } from 'vitest'
import { sqliteFailure } from '../../test/support/sqlite-failure.ts'
import { isBusy, isDamage, isDiskFull, isUnwritable } from './errors.ts'

it('knows what failed by the code of SQLite, and by its words where the driver gives no code', () => {
  // 267 is 11, with more detail.
  expect(isDamage(sqliteFailure('database disk image is malformed', 267))).toBe(true)
  expect(isDamage(sqliteFailure('database disk image is malformed'))).toBe(true)
  expect(isDamage(sqliteFailure('fts5: corruption found reading blob 10 from table "words2"'))).toBe(true)
  expect(isDamage(sqliteFailure('file is not a database'))).toBe(true)
  // 266 is that a file could not be read.
  expect(isDamage(sqliteFailure('disk I/O error', 266))).toBe(true)
  // 1555 is 19, with more detail: a table holds a row that another one knows nothing of.
  expect(isDamage(sqliteFailure('UNIQUE constraint failed: documents.id', 1555))).toBe(true)
  expect(isDamage(sqliteFailure('constraint failed'))).toBe(true)
  expect(isBusy(sqliteFailure('database is locked'))).toBe(true)
  expect(isDiskFull(sqliteFailure('database or disk is full'))).toBe(true)
  expect(isUnwritable(sqliteFailure('attempt to write a readonly database'))).toBe(true)
  expect(isUnwritable(sqliteFailure('unable to open database file'))).toBe(true)
})

it('takes a file that cannot be written or made longer for no damage', () => {
  // 4874 is that there was no room for the file beside the log, 778 that a quota was reached.
  for (const failure of [4874, 778, undefined].map((code) => sqliteFailure('disk I/O error', code))) {
    expect(isDamage(failure)).toBe(false)
    expect(isUnwritable(failure)).toBe(true)
  }
})

it('takes no other failure for one of them', () => {
  const others = [
    sqliteFailure('no such table: words0', 1),
    sqliteFailure('no such table: words0'),
    new Error('database is locked'),
  ]
  for (const each of others)
    for (const is of [isDamage, isBusy, isDiskFull, isUnwritable]) expect(is(each)).toBe(false)
})
