import { expect, it } from 'vitest'
import { sqliteFailure } from '../../test/support/sqlite-failure.ts'
import { useWriteAheadLog } from './write-ahead-log.ts'

it('waits for a process that opens the same new database, and for nothing else', () => {
  const failures = [sqliteFailure('database is locked', 5), sqliteFailure('database is locked')]
  let calls = 0
  useWriteAheadLog({
    exec() {
      const next = failures[calls++]
      if (next) throw next
    },
  })
  expect(calls).toBe(3)
  const broken = sqliteFailure('file is not a database', 26)
  const exec = (): void => {
    throw broken
  }
  expect(() => useWriteAheadLog({ exec })).toThrow(broken)
})
