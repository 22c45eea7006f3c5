import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry, Place, Selection } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import { createFileStore } from '../src/file-store.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { fileStem } from '../src/files/paths.ts'
import { layouts } from '../src/layout/layout.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { loadSqlite, type OpenDatabase } from '../src/sqlite/driver.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const place = { namespace: 'default', scope: 'long-term' } as const
const address = { ...place, key: 'key' }

const entryAt = (now: number): Entry => ({
  ...address,
  value: 'text',
  text: 'text',
  type: null,
  tags: [],
  createdAt: now,
  updatedAt: now,
  accessedAt: now,
  accessCount: 0,
  ttl: 100,
  expiresAt: now + 100,
  encrypted: false,
  embedding: null,
})

/** Two handles on one memory, and what happens just before the first takes the lock. */
async function twoHandles() {
  const sqlite = await loadSqlite()
  const root = temporaryRoot()
  let beforeLock = (): void => {}
  const watched: OpenDatabase = (path) => {
    const database = sqlite(path)
    if (path !== join(root, layouts.entity.internal, 'lock.db')) return database
    return {
      exec(sql) {
        if (sql.startsWith('BEGIN')) beforeLock()
        database.exec(sql)
      },
      prepare: (sql) => database.prepare(sql),
      function: (name, call) => database.function(name, call),
      close: () => database.close(),
    }
  }
  const open = (openDatabase: OpenDatabase) =>
    createFileStore({
      root,
      layout: layouts.entity,
      fileSystem: defaultFileSystem,
      openDatabase,
      onNotice: () => {},
    })
  const store = open(watched)
  const other = open(sqlite)
  onTestFinished(async () => {
    await store.close()
    await other.close()
  })
  return {
    store,
    other,
    beforeNextLock(call: () => void): void {
      beforeLock = () => {
        beforeLock = () => {}
        call()
      }
    },
  }
}

it('counts and forgets nothing of an entry that is written again before it is swept', async () => {
  const { store, other, beforeNextLock } = await twoHandles()
  await store.put(entryAt(0), { overwrite: true, now: 0 })
  await store.stats(place)
  beforeNextLock(() => {
    void other.put(entryAt(200), { overwrite: true, now: 200 })
    void other.get(address, 210)
    void other.touch([address], 250)
  })
  expect(await store.sweep({ ...place, now: 200, dryRun: false })).toBe(0)
  expect(await store.get(address, 340)).toMatchObject({ createdAt: 200, accessCount: 1, expiresAt: 350 })
})

it.each<[string, Omit<Selection, keyof Place>]>([
  ['time', { updatedBefore: 100 }],
  ['tags', { tags: ['draft'] }],
  ['type', { type: 'draft' }],
])('clears by %s nothing that is written otherwise before it is removed', async (_, selection) => {
  const { store, other, beforeNextLock } = await twoHandles()
  const draft = { ...entryAt(0), tags: ['draft'], type: 'draft' }
  for (const key of ['key', 'other']) await store.put({ ...draft, key }, { overwrite: true, now: 0 })
  await store.stats(place)
  beforeNextLock(() => void other.put(entryAt(200), { overwrite: true, now: 200 }))
  expect(await store.removeAll({ ...place, ...selection })).toBe(1)
  expect(await store.get(address, 210)).toMatchObject({ updatedAt: 200 })
  expect(await store.get({ ...address, key: 'other' }, 10)).toBeNull()
})

it('overwrites an entry that another deletes and writes again at that moment', async () => {
  const looks: string[] = []
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    lstatSync: ((path, options) => {
      const isNote = String(path).endsWith('key.md')
      if (isNote) looks.push(String(path))
      // Gone at the second look, there at the first and the third.
      if (isNote && looks.length === 2) return undefined
      return defaultFileSystem.lstatSync(path, options)
    }) as FileSystem['lstatSync'],
  }
  const memory = await openFileMemory({ root: temporaryRoot(), fileSystem })
  await memory.write('long-term', 'key', 'first')
  looks.length = 0
  await memory.write('long-term', 'key', 'second')
  expect(looks.length).toBeGreaterThan(2)
  expect(await memory.read('long-term', 'key')).toBe('second')
  await memory.close()
})

it.each([
  { what: 'a section', file: 'MEMORY.md', given: { key: 'MEMORY.md#a', ttl: null, expiresAt: null } },
  {
    what: 'a note under the key of a session',
    file: `short-term/${fileStem('session:a')}.md`,
    given: { key: 'session:a', scope: 'short-term' as const },
  },
])(
  'refuses to write over $what that a person saves while it is compared with what was expected',
  async (each) => {
    const root = temporaryRoot()
    const path = join(root, 'memory', each.file)
    let open: number | undefined
    let save: (() => void) | undefined
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      openSync: ((opened, ...more) => {
        const descriptor = defaultFileSystem.openSync(opened, ...more)
        if (opened === path) open = descriptor
        return descriptor
      }) as FileSystem['openSync'],
      closeSync: (descriptor) => {
        defaultFileSystem.closeSync(descriptor)
        if (descriptor !== open) return
        open = undefined
        save?.()
        save = undefined
      },
    }
    const store = createFileStore({
      root,
      layout: layouts.entity,
      fileSystem,
      openDatabase: await loadSqlite(),
      onNotice: () => {},
    })
    onTestFinished(() => store.close())
    const entry = { ...entryAt(0), ...each.given }
    await store.put(entry, { overwrite: true, now: 0 })
    const { updatedAt } = (await store.get(entry, 0)) as Entry
    const saved = readFileSync(path, 'utf8').replace('text', 'of a person')
    save = () => writeFileSync(path, saved)
    const put = { ...entry, value: 'other', text: 'other', updatedAt: updatedAt + 1 }
    const change = { put, options: { overwrite: true, now: 0 }, expected: { updatedAt, value: 'text' } }
    await expect(store.commit([change])).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    expect(readFileSync(path, 'utf8')).toBe(saved)
  },
)

/** Calls that put a file in its place or take it away. */
const moves = ['renameSync', 'linkSync', 'unlinkSync'] as const

it('lets nobody come between looking at an entry and moving its file', async () => {
  const sqlite = await loadSqlite()
  const root = temporaryRoot()
  let moved = 0
  const isLocked = (): boolean => {
    const lock = sqlite(join(root, layouts.entity.internal, 'lock.db'))
    try {
      lock.exec('BEGIN IMMEDIATE')
      return false
    } catch {
      return true
    } finally {
      lock.close()
    }
  }
  const watched = (name: (typeof moves)[number]) =>
    ((...paths: [string, string]) => {
      if (paths.at(-1)?.endsWith('key.md')) {
        moved++
        expect(isLocked()).toBe(true)
      }
      return defaultFileSystem[name](...paths)
    }) as never
  const fileSystem = {
    ...defaultFileSystem,
    ...Object.fromEntries(moves.map((name) => [name, watched(name)])),
  }
  const memory = await openFileMemory({ root, fileSystem })
  onTestFinished(() => memory.close())
  await memory.write('long-term', 'key', 1)
  await memory.write('long-term', 'key', 2)
  await memory.delete('long-term', 'key')
  await memory.write('long-term', 'key', 3, { overwrite: false })
  await memory.atomicUpdate('long-term', [{ operation: 'set', key: 'key', value: 4 }])
  await memory.clear('long-term')
  expect(moved).toBe(6)
})

it('takes no lock to delete what is not there', async () => {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root })
  onTestFinished(() => memory.close())
  await memory.delete('long-term', 'absent')
  expect(existsSync(join(root, layouts.entity.internal, 'lock.db'))).toBe(false)
})

it('writes what succeeds an entry that somebody else keeps writing', async () => {
  const { store, other, beforeNextLock } = await twoHandles()
  await store.put(entryAt(0), { overwrite: true, now: 0 })
  beforeNextLock(() => void other.put({ ...entryAt(50), tags: ['other'] }, { overwrite: true, now: 50 }))
  await store.put(entryAt(50), { overwrite: true, now: 50 })
  expect(await store.get(address, 60)).toMatchObject({ createdAt: 0, updatedAt: 51, tags: [] })
})
