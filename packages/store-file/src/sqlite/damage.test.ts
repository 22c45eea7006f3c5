import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sqliteFailure } from '../../test/support/sqlite-failure.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { comesOfDamage, passesCheck } from './damage.ts'
import { loadSqlite } from './driver.ts'

it('asks the database whether a mistake in a call comes of nonsense in its rows', async () => {
  const open = await loadSqlite()
  const path = join(temporaryRoot(), 'index.db')
  const whole = open(path)
  whole.exec("CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('harbour')")
  const isIntact = (): boolean => passesCheck(whole)
  expect(comesOfDamage(new TypeError('received null'), isIntact)).toBe(false)
  expect(comesOfDamage(sqliteFailure('database disk image is malformed', 11), isIntact)).toBe(true)
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
