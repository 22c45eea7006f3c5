import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { thisProcess } from '@recall/core/process'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFile, temporaryFolder } from '../../test/support.ts'
import { withSnapshot } from './sqlite-snapshot.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  return { ...real, rmSync: vi.fn(real.rmSync) }
})

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  return { ...real, copyFile: vi.fn(real.copyFile) }
})

/** A database of another program in a temporary folder of its own, and the copies of it there; time stands still. */
async function theirDatabase() {
  const folder = await temporaryFolder()
  vi.stubEnv('TMPDIR', folder)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const path = join(folder, 'theirs.db')
  const database = new DatabaseSync(path)
  onTestFinished(() => {
    database.close()
    vi.advanceTimersByTime(2000)
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })
  const copies = (): string[] => readdirSync(folder).filter((name) => name.startsWith('recall-read-'))
  return { path, database, copies }
}

it('copies a database once for all that is read from it, until it changes', async () => {
  const { path, database, copies } = await theirDatabase()
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE said (text); INSERT INTO said VALUES (1)')
  const count = () => withSnapshot(path, (query) => query('SELECT * FROM said').length)
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
})

it('leaves a copy that Windows holds open until it can be removed', async () => {
  const { path, database, copies } = await theirDatabase()
  database.exec('CREATE TABLE said (text)')
  const refuse = (): never => {
    throw Object.assign(new Error('EBUSY: resource busy or locked, unlink'), { code: 'EBUSY' })
  }
  await withSnapshot(path, (query) => query('SELECT * FROM said'))
  vi.mocked(rmSync).mockImplementationOnce(refuse)
  vi.advanceTimersByTime(2000)
  expect(copies()).toHaveLength(1)
  vi.advanceTimersByTime(2000)
  expect(copies()).toEqual([])

  await withSnapshot(path, (query) => query('SELECT * FROM said'))
  database.exec('INSERT INTO said VALUES (1)')
  vi.mocked(rmSync).mockImplementationOnce(refuse)
  expect(await withSnapshot(path, (query) => query('SELECT * FROM said'))).toHaveLength(1)
  expect(copies()).toHaveLength(2)
  vi.advanceTimersByTime(2000)
  expect(copies()).toEqual([])
})

it('removes the copies of processes that are gone, and of no other', async () => {
  const folder = await temporaryFolder()
  vi.stubEnv('TMPDIR', folder)
  const { pid: gone } = spawnSync(process.execPath, ['--version'])
  const { place } = thisProcess()
  const [theirs, living] = [`recall-read-${gone}-${place}-a`, `recall-read-${process.ppid}-${place}-b`]
  for (const name of [theirs, living]) mkdirSync(join(folder, name))
  const database = new DatabaseSync(join(folder, 'theirs.db'))
  database.exec('CREATE TABLE said (text)')
  database.close()
  try {
    await withSnapshot(join(folder, 'theirs.db'), (query) => query('SELECT * FROM said'))
    expect(readdirSync(folder)).not.toContain(theirs)
    expect(readdirSync(folder)).toContain(living)
  } finally {
    vi.unstubAllEnvs()
  }
})

it.runIf(process.platform !== 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'leaves no copy when %s ends the process',
  async (signal) => {
    const { path, database, copies } = await theirDatabase()
    database.exec('CREATE TABLE said (text)')
    const reading = `import { withSnapshot } from '${new URL('sqlite-snapshot.ts', import.meta.url)}'
await withSnapshot('${path}', (query) => query('SELECT * FROM said'))
process.stdout.write('read')
setInterval(() => {}, 1000)`
    const flags = ['--import', 'tsx', '-C', '@recall/source', '--input-type=module', '-e', reading]
    const reader = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(reader.stdout, 'data')
    expect(copies()).toHaveLength(1)
    reader.kill(signal)
    expect(await once(reader, 'exit')).toEqual([null, signal])
    expect(copies()).toEqual([])
  },
)

it('copies a database again whose log was moved into it meanwhile', async () => {
  const path = join(await temporaryFolder(), 'theirs.db')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE said (text); INSERT INTO said VALUES (1)')
  const real = vi.mocked(copyFile).getMockImplementation() as typeof copyFile
  vi.mocked(copyFile).mockImplementationOnce(async (...files) => {
    await real(...files)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  })
  try {
    expect(await withSnapshot(path, (query) => query('SELECT * FROM said'))).toEqual([{ text: 1 }])
  } finally {
    database.close()
  }
})

it('leaves nothing of a copy that fails', async () => {
  const { path, database, copies } = await theirDatabase()
  database.exec('CREATE TABLE said (text)')
  vi.mocked(copyFile).mockRejectedValueOnce(Object.assign(new Error('EIO'), { code: 'EIO' }))
  await expect(withSnapshot(path, () => 1)).rejects.toMatchObject({
    code: 'MEMORY_UNAVAILABLE',
    message: `${path} cannot be read now`,
  })
  expect(copies()).toEqual([])
})

it('gives up on a database that is never at rest', async () => {
  const path = join(await temporaryFolder(), 'theirs.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE said (text)')
  const real = vi.mocked(copyFile).getMockImplementation() as typeof copyFile
  vi.mocked(copyFile).mockImplementation(async (...files) => {
    await real(...files)
    if (files[0] === path) database.exec('INSERT INTO said VALUES (1)')
  })
  try {
    await expect(withSnapshot(path, () => 1)).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  } finally {
    vi.mocked(copyFile).mockImplementation(real)
    database.close()
  }
})

it.each([
  ['a damaged one', `SQLite format 3\0${'x'.repeat(5000)}`],
  ['no database', 'nonsense'],
])('says which file is %s', async (_, content) => {
  const path = await temporaryFile('theirs.db', content)
  await expect(withSnapshot(path, (query) => query('SELECT 1 FROM sqlite_master'))).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: `${path} cannot be read as a database: file is not a database`,
  })
})
