import { MemoryErrorCode } from '@recall/core'
import { afterEach, expect, it, vi } from 'vitest'
import { createStatements, loadSqlite } from './driver.ts'

vi.mock('@photostructure/sqlite', () => {
  throw new Error('No native build was found')
})

afterEach(() => void vi.unstubAllGlobals())

it('says what to do when no SQLite can be loaded', async () => {
  const versions = { ...process.versions, node: '22.12.0' }
  vi.stubGlobal('process', Object.create(process, { versions: { value: versions } }))
  await expect(loadSqlite()).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: expect.stringMatching(/^@photostructure\/sqlite cannot be loaded: install it/),
  })
})

it('runs statements where the driver refuses to tell the last row id', () => {
  const ran: unknown[][] = []
  const query = {
    run() {
      throw new RangeError('Value is too large to be represented as a JavaScript number: 9007336693694464')
    },
    get: () => undefined,
    all(...parameters: unknown[]) {
      ran.push(parameters)
      return []
    },
    iterate: () => [],
  }
  const sql = createStatements({ exec() {}, function() {}, close() {}, prepare: () => query })
  sql('DELETE FROM words2 WHERE rowid BETWEEN ? AND ?').run(1, 2)
  expect(ran).toEqual([[1, 2]])
})
