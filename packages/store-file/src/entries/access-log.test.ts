import { join } from 'node:path'
import type { Address } from '@recall/core'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { loadSqlite, type OpenDatabase } from '../sqlite/driver.ts'
import { createAccessLog } from './access-log.ts'

it('costs nobody an entry while another process holds it', async () => {
  const folder = temporaryRoot()
  const openDatabase = await loadSqlite()
  const impatient: OpenDatabase = (path) => {
    const database = openDatabase(path)
    return {
      exec: (sql) => database.exec(sql.replace(/busy_timeout = \d+/, 'busy_timeout = 0')),
      prepare: (sql) => database.prepare(sql),
      function: (name, call) => database.function(name, call),
      close: () => database.close(),
    }
  }
  const notices: string[] = []
  const log = createAccessLog(defaultFileSystem, impatient, folder, (text) => notices.push(text))
  const address: Address = { scope: 'long-term', namespace: 'default', key: 'note' }
  const version = { created: 1, updated: 1 }
  log.record([{ address, version, expires: null }], 2)

  const other = openDatabase(join(folder, 'access.db'))
  other.exec('BEGIN IMMEDIATE')
  log.record([{ address, version, expires: null }], 3)
  log.forget([address])
  expect(log.read(address, version)).toEqual({ at: 2, count: 1, expires: null })
  expect(notices).toEqual([expect.stringContaining('held by another process')])

  other.exec('ROLLBACK')
  other.close()
  log.record([{ address, version, expires: null }], 4)
  expect(log.read(address, version)).toEqual({ at: 4, count: 2, expires: null })
  log.close()
})
