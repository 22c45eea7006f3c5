import { expect, it } from 'vitest'
import { isBusy, isDamage, isDiskFull, isUnwritable, useWriteAheadLog } from './index-file.ts'

const failure = (message: string, errcode?: number): Error =>
  Object.assign(new Error(message), {
    code: 'ERR_SQLITE_ERROR',
    ...(errcode === undefined ? {} : { errcode }),
  })

it('knows what failed by the code of SQLite, and by its words where the driver gives no code', () => {
  // 267 is 11, with more detail.
  expect(isDamage(failure('database disk image is malformed', 267))).toBe(true)
  expect(isDamage(failure('database disk image is malformed'))).toBe(true)
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
