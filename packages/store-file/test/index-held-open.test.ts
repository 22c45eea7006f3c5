import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { schemaVersion } from '../src/search-index/schema.ts'
import { writeSeal } from '../src/search-index/seal.ts'
import { loadSqlite } from '../src/sqlite/driver.ts'
import { answers, fill, internal } from './support/index-answers.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

describe('an index that another process has open, on Windows', () => {
  const refuse = (path: unknown): void => {
    if (/index\.db(?:-wal|-shm)?$/.test(String(path)))
      throw Object.assign(new Error(`EBUSY: resource busy or locked, ${path}`), { code: 'EBUSY' })
  }
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    unlinkSync(path) {
      refuse(path)
      defaultFileSystem.unlinkSync(path)
    },
    renameSync(from, to) {
      refuse(from)
      defaultFileSystem.renameSync(from, to)
    },
  }
  const indexOf = (root: string): string => join(internal(root), 'index.db')
  const bytesOf = (root: string): Buffer =>
    Buffer.concat(
      [indexOf(root), `${indexOf(root)}-wal`].filter(existsSync).map((path) => readFileSync(path)),
    )

  it('is built anew in its place, without a word of what is gone', async () => {
    const root = temporaryRoot()
    await fill(root, 20)
    const other = await openFileMemory({ root, redact: 'allow' })
    const before = await answers(other)
    const note = join(root, 'memory/long-term/noted.md')
    writeFileSync(note, Array.from({ length: 5000 }, (_, i) => `bathyscaphe${i}`).join(' '))
    expect(await other.search('long-term', { text: 'bathyscaphe7' })).toHaveLength(1)
    expect(bytesOf(root).includes('bathyscaphe')).toBe(true)
    rmSync(note)
    const store = await openFileStore({ root, fileSystem })
    store.reindex({ full: true })
    await store.close()
    expect(await answers(other)).toBe(before)
    await other.close()
    expect(bytesOf(root).includes('bathyscaphe')).toBe(false)
  })

  it('is built anew in its place where another version made it', async () => {
    const root = temporaryRoot()
    await fill(root, 20)
    const database = (await loadSqlite())(indexOf(root))
    database.exec(`PRAGMA user_version = ${schemaVersion + 1}; CREATE TABLE of_later (name TEXT)`)
    database.close()
    const notices: string[] = []
    const memory = await openFileMemory({ root, fileSystem, onNotice: (text) => notices.push(text) })
    expect(await memory.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    await memory.close()
    expect(notices).toEqual([expect.stringContaining('made by another version')])
    const again = await openFileMemory({ root, fileSystem, onNotice: (text) => notices.push(text) })
    expect(await again.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    await again.close()
    expect(notices).toHaveLength(1)
  })

  it.each(['is no database', 'breaks while it is open'])('is kept in memory where it %s', async (how) => {
    const root = temporaryRoot()
    await fill(root, 20)
    const notices: string[] = []
    const breakIt = (): void => writeFileSync(indexOf(root), Buffer.alloc(100_000, 'x'))
    if (how === 'is no database') breakIt()
    const memory = await openFileMemory({ root, fileSystem, onNotice: (text) => notices.push(text) })
    if (how !== 'is no database') {
      await memory.search('long-term', { text: 'harbour' }, { touch: false })
      breakIt()
      await memory.write('long-term', 'later', 'a gull')
    }
    expect(await memory.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    expect(notices.join()).toContain('kept in memory')
    await memory.close()
  })

  it('is not trusted by the next who opens it where it broke', async () => {
    const root = temporaryRoot()
    await fill(root, 20)
    const open = (on?: FileSystem) =>
      openFileMemory({ root, ...(on ? { fileSystem: on } : {}), onNotice: (text) => notices.push(text) })
    const notices: string[] = []
    const { length } = readFileSync(indexOf(root))
    writeFileSync(indexOf(root), readFileSync(indexOf(root)).fill(0, 5 * 4096, length - 5 * 4096))
    writeSeal(defaultFileSystem, internal(root), { documents: 22, folders: {} })
    const memory = await open(fileSystem)
    expect(await memory.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    await memory.close()
    expect(notices).toEqual([expect.stringContaining('kept in memory')])
    await (await open()).search('long-term', { text: 'harbour' }, { touch: false })
    expect(notices[1]).toContain('it was moved to')
  })
})
