import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../test/support.ts'
import { withSnapshot } from './sqlite-snapshot.ts'

it('copies a database once for all that is read from it, until it changes', async () => {
  const folder = await temporaryFolder()
  const copies = (): string[] => readdirSync(folder).filter((name) => name.startsWith('recall-read-'))
  vi.stubEnv('TMPDIR', folder)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const path = join(folder, 'theirs.db')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE said (text); INSERT INTO said VALUES (1)')
  const count = () => withSnapshot(path, (query) => query('SELECT * FROM said').length)
  try {
    expect(await count()).toBe(1)
    const [copy] = copies()
    vi.advanceTimersByTime(1500)
    expect(await count()).toBe(1)
    vi.advanceTimersByTime(1500)
    expect(await Promise.all([count(), count()])).toEqual([1, 1])
    expect(copies()).toEqual([copy])

    database.exec('INSERT INTO said VALUES (2)')
    expect(await Promise.all([count(), count()])).toEqual([2, 2])
    expect(copies()).not.toEqual([copy])
    expect(copies()).toHaveLength(1)

    vi.advanceTimersByTime(2000)
    expect(copies()).toEqual([])
    expect(await count()).toBe(2)
  } finally {
    database.close()
    vi.advanceTimersByTime(2000)
    vi.useRealTimers()
    vi.unstubAllEnvs()
  }
})
