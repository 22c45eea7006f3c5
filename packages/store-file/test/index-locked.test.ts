import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, MemoryErrorCode, type MemoryManager } from '@recall/core'
import { createTicker } from '@recall/core/conformance'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createFileStore } from '../src/file-store.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { layouts } from '../src/layout/layout.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { loadSqlite, type OpenDatabase } from '../src/sqlite/driver.ts'
import { fill, internal } from './support/index-answers.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// Nobody lets go in this test: waiting for long would tell nothing more.
vi.mock('../src/sqlite/write-ahead-log.ts', async (original) => ({
  ...(await original<typeof import('../src/sqlite/write-ahead-log.ts')>()),
  busyMs: 50,
}))

it('says what to do when another process hangs and holds the index', async () => {
  const root = temporaryRoot()
  await fill(root, 20)
  const holder = (await loadSqlite())(join(internal(root), 'index.db'))
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  writeFileSync(join(root, 'memory/long-term/new.md'), 'The zebra crosses.')
  const memory = await openFileMemory({ root })
  await expect(memory.search('long-term', { text: 'zebra' })).rejects.toMatchObject({
    code: MemoryErrorCode.TIMEOUT,
    message: expect.stringContaining('end it, or try again'),
  })
  holder.exec('ROLLBACK')
  expect(await memory.search('long-term', { text: 'zebra' })).toHaveLength(1)
  await memory.close()
})

it.each(['by the process that read it', 'by the next one'])(
  'does not hide, held by another process, what a read kept alive: found %s',
  async (by) => {
    const root = temporaryRoot()
    const { clock, advance } = createTicker()
    const reader = await openFileMemory({ root, clock })
    await reader.write('short-term', 'weather', 'sunny harbour', { ttl: 1000 })
    const found = async (memory: MemoryManager) =>
      Promise.all(
        [{ text: 'harbour' }, {}].map(
          async (query) => (await memory.search('short-term', query, { touch: false })).length,
        ),
      )
    expect(await found(reader)).toEqual([1, 1])
    advance(500)
    const holder = (await loadSqlite())(join(internal(root), 'index.db'))
    onTestFinished(() => holder.close())
    holder.exec('BEGIN IMMEDIATE')
    expect(await reader.read('short-term', 'weather')).toBe('sunny harbour')
    holder.exec('ROLLBACK')
    advance(750)
    const isSame = by === 'by the process that read it'
    if (!isSame) await reader.close()
    const memory = isSame ? reader : await openFileMemory({ root, clock })
    expect(await found(memory)).toEqual([1, 1])
    advance(250)
    expect(await found(memory)).toEqual([0, 0])
    await memory.close()
  },
)

it.each([
  ['index.db', 'while it lags behind'],
  ['lock.db', 'which nobody but the holder of the lock may seal'],
])('is not left open by who closes the memory while another process holds %s, %s', async (name) => {
  const root = temporaryRoot()
  await fill(root, 20)
  const sqlite = await loadSqlite()
  const open: string[] = []
  const openDatabase: OpenDatabase = (path) => {
    const database = sqlite(path)
    open.push(path)
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => database.prepare(sql),
      function: (of, call) => database.function(of, call),
      close() {
        database.close()
        open.splice(open.indexOf(path), 1)
      },
    }
  }
  const notices: string[] = []
  const store = createFileStore({
    root,
    layout: layouts.entity,
    fileSystem: defaultFileSystem,
    openDatabase,
    onNotice: (text) => notices.push(text),
    lockTimeoutMs: 0,
  })
  const memory = createMemoryManager({ stores: store })
  await memory.write('long-term', 'a', 'The zebra crosses.')
  expect(await memory.search('long-term', { text: 'zebra' })).toHaveLength(1)
  if (name === 'index.db') await memory.write('long-term', 'b', 'The zebra sleeps.')
  const holder = sqlite(join(internal(root), name))
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  await memory.close()
  // What is missing from the index is told; that it has no seal costs no answer.
  const told = expect.stringMatching(/^the search index could not be .*another process has held/)
  expect(notices).toEqual(name === 'index.db' ? [told] : [])
  expect(open).toEqual([])
  holder.exec('ROLLBACK')
  const later = await openFileMemory({ root })
  expect(await later.search('long-term', { text: 'zebra' })).toHaveLength(name === 'index.db' ? 2 : 1)
  await later.close()
})
