import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fill, internal } from '../../test/support/index-answers.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import { type Database, loadSqlite, type OpenDatabase } from '../sqlite/driver.ts'
import { openIndexFile } from './index-file.ts'
import { schemaVersion } from './schema.ts'
import { writeSeal } from './seal.ts'

/** Windows, with a driver that ends statements late: a file stays open once one was prepared. */
function windowsWith(open: OpenDatabase): { fileSystem: FileSystem; openDatabase: OpenDatabase } {
  const held = new Set<string>()
  return {
    openDatabase(path) {
      const database = open(path)
      return {
        exec: (sql) => database.exec(sql),
        function: (name, call) => database.function(name, call),
        close: () => database.close(),
        prepare(sql) {
          held.add(path)
          return database.prepare(sql)
        },
      }
    },
    fileSystem: {
      ...defaultFileSystem,
      renameSync(from, to) {
        if (held.has(String(from))) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' })
        defaultFileSystem.renameSync(from, to)
      },
    },
  }
}

it('sets a damaged index aside, which no look at it holds open', async () => {
  const root = temporaryRoot()
  await fill(root, 20)
  const folder = internal(root)
  const path = join(folder, 'index.db')
  rmSync(join(folder, 'index.seal'))
  writeFileSync(path, readFileSync(path).fill(0, 8192))
  const { database, temporary, notice } = openIndexFile({
    ...windowsWith(await loadSqlite()),
    folder,
    prepareFolder: () => {},
    inUse: false,
    exclusively: (section) => section(),
  })
  database.close()
  expect(temporary).toBe(false)
  expect(notice).toContain('the search index was damaged: it was moved to')
})

describe('an index that another process mends while its lock is waited for', () => {
  /** Opens the index of a memory; what the other process does is done when the lock is taken for the first time. */
  const openMeanwhile = async (folder: string, inUse: boolean, meanwhile: () => void) => {
    let isFirst = true
    const { database, ...opened } = openIndexFile({
      fileSystem: defaultFileSystem,
      openDatabase: await loadSqlite(),
      folder,
      prepareFolder: () => {},
      inUse,
      exclusively(section) {
        if (isFirst) meanwhile()
        isFirst = false
        return section()
      },
    })
    database.close()
    return opened
  }
  const closed = async (): Promise<string> => {
    const root = temporaryRoot()
    await fill(root, 20)
    rmSync(join(internal(root), 'index.seal'))
    return internal(root)
  }

  it('is opened where it took the place of a damaged one', async () => {
    const folder = await closed()
    const path = join(folder, 'index.db')
    const whole = readFileSync(path)
    writeFileSync(path, 'damaged')
    const opened = await openMeanwhile(folder, true, () => {
      writeFileSync(`${path}-new`, whole)
      renameSync(`${path}-new`, path)
    })
    expect(opened).toEqual({ isNew: false, temporary: false, unclean: false })
  })

  it('is opened where it was about to be sealed', async () => {
    const folder = await closed()
    const opened = await openMeanwhile(folder, false, () =>
      writeSeal(defaultFileSystem, folder, { documents: 22, folders: {} }),
    )
    expect(opened).toEqual({ isNew: false, temporary: false, unclean: false })
  })

  /** Runs statements on the index, and moves what they did from the log into the file. */
  const change = async (folder: string, statements: string): Promise<void> => {
    const database = (await loadSqlite())(join(folder, 'index.db'))
    database.exec(`${statements}; PRAGMA wal_checkpoint(TRUNCATE)`)
    database.close()
  }

  it.each([
    ['writes to it', schemaVersion],
    ['was seen making it', 0],
  ])('is used as it is where a living process %s', async (_, version) => {
    const folder = await closed()
    await change(folder, `PRAGMA user_version = ${version}`)
    const open = await loadSqlite()
    let writer: Database | undefined
    const opened = await openMeanwhile(folder, false, () => {
      writer = open(join(folder, 'index.db'))
      writer.exec(`PRAGMA user_version = ${schemaVersion}; CREATE TABLE more (word TEXT)`)
    })
    expect(opened).toEqual({ isNew: false, temporary: false, unclean: true })
    writer?.close()
  })
})
