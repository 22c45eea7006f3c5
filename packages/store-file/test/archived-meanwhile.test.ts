import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createMemoryManager } from '@recall/core'
import { createTicker } from '@recall/core/conformance'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { isPosix } from './support/platform.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('a note that is archived while', () => {
  const place = { namespace: 'default', scope: 'episodic' } as const
  const address = { ...place, key: 'key' }
  const listed = {
    limit: 10,
    offset: 0,
    sortBy: 'recency',
    sortOrder: 'asc',
    minScore: 0,
    now: 1000,
  } as const

  /** Archives a note; something happens when its copy is made and the note still stands. */
  async function archiveWhile(meanwhile: (note: string) => void, faults: Partial<FileSystem> = {}) {
    const root = temporaryRoot()
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      ...faults,
      renameSync(from, to) {
        defaultFileSystem.renameSync(from, to)
        if (String(to).endsWith('.json.gz')) meanwhile(join(root, 'memory/episodic/key.md'))
      },
    }
    const store = await openFileStore({ root, fileSystem })
    const memory = createMemoryManager({ stores: store, clock: () => 10 })
    await memory.write('episodic', 'key', 'first')
    const run = await store.cold?.archive({ ...place, before: 100, now: 1000, dryRun: false })
    const archived = (await store.cold?.find({ ...place, ...listed })) ?? []
    const current = await store.get(address, 1000)
    onTestFinished(() => memory.close())
    return { run, current: current?.value, archived: archived.map(({ entry }) => entry.value) }
  }

  it('a person writes it is the new one, and not archived', async () => {
    const found = await archiveWhile((note) => writeFileSync(note, 'second\n'))
    expect(found).toEqual({ run: { archived: 0, errors: [] }, current: 'second', archived: [] })
  })

  it('a person deletes it is gone', async () => {
    const found = await archiveWhile((note) => rmSync(note))
    expect(found).toEqual({ run: { archived: 0, errors: [] }, current: undefined, archived: [] })
  })

  it('a person writes it leaves what was archived under its key before', async () => {
    const root = temporaryRoot()
    let meanwhile = (): void => {}
    const renameSync: FileSystem['renameSync'] = (from, to) => {
      defaultFileSystem.renameSync(from, to)
      if (String(to).endsWith('.json.gz')) meanwhile()
    }
    const store = await openFileStore({ root, fileSystem: { ...defaultFileSystem, renameSync } })
    const memory = createMemoryManager({ stores: store, clock: () => 10 })
    onTestFinished(() => memory.close())
    const archive = () => store.cold?.archive({ ...place, before: 100, now: 1000, dryRun: false })
    await memory.write('episodic', 'key', 'first')
    expect(await archive()).toMatchObject({ archived: 1 })
    await memory.write('episodic', 'key', 'second')
    meanwhile = () => writeFileSync(join(root, 'memory/episodic/key.md'), 'third\n')
    expect(await archive()).toMatchObject({ archived: 0 })
    expect(await store.cold?.get(address, 1000)).toMatchObject({ value: 'first' })
    expect(await memory.read('episodic', 'key')).toBe('third')
  })

  it('a person writes or deletes those that wait is the only one archived', async () => {
    const root = temporaryRoot()
    const waiting = new Set(['one', 'two', 'three'])
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      renameSync(from, to) {
        defaultFileSystem.renameSync(from, to)
        if (waiting.size < 3 || !String(to).endsWith('.json.gz')) return
        waiting.delete(basename(String(to), '.json.gz'))
        const [written, deleted] = [...waiting].map((key) => join(root, 'memory/episodic', `${key}.md`))
        writeFileSync(String(written), 'second\n')
        rmSync(String(deleted))
      },
    }
    const store = await openFileStore({ root, fileSystem })
    const memory = createMemoryManager({ stores: store, clock: () => 10 })
    for (const key of waiting) await memory.write('episodic', key, 'first')
    const run = await store.cold?.archive({ ...place, before: 100, now: 1000, dryRun: false })
    const archived = (await store.cold?.find({ ...place, ...listed })) ?? []
    const current = await store.find({ ...place, ...listed })
    expect(run).toEqual({ archived: 1, errors: [] })
    expect(archived.map(({ entry }) => entry.value)).toEqual(['first'])
    expect(current.map(({ entry }) => entry.value)).toEqual(['second'])
    await memory.close()
  })

  it('its file does not hold what it announces stays as it is', async () => {
    const root = temporaryRoot()
    const time = createTicker()
    const memory = createMemoryManager({ stores: await openFileStore({ root }), clock: time.clock })
    await memory.write('episodic', 'key', { n: 1 })
    await memory.write('episodic', 'other', { n: 2 })
    const path = join(root, 'memory/episodic/key.md')
    const broken = readFileSync(path, 'utf8').replace('"n": 1', '"n": ')
    expect(broken).not.toContain('"n": 1')
    writeFileSync(path, broken)
    utimesSync(path, 0, 0)
    time.advance(100 * 24 * 60 * 60 * 1000)
    const old = { scope: 'episodic', archiveBefore: time.clock() } as const
    expect(await memory.cleanup(old)).toMatchObject({ archived: 1, errors: [{ key: 'key' }] })
    expect(readFileSync(path, 'utf8')).toBe(broken)
    await memory.close()
  })

  it('the disk fails is kept, as one of the two', async () => {
    const found = await archiveWhile(() => {
      throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
    })
    expect(found.run).toMatchObject({ archived: 0, errors: [{ key: 'key' }] })
    expect(found).toMatchObject({ current: 'first' })
  })

  it.runIf(isPosix)('its file goes and the disk then fails is kept in the archive', async () => {
    let isFailing = false
    const found = await archiveWhile(() => {}, {
      unlinkSync(path) {
        defaultFileSystem.unlinkSync(path)
        if (String(path).endsWith('key.md')) isFailing = true
      },
      fsyncSync(descriptor) {
        if (isFailing) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
        defaultFileSystem.fsyncSync(descriptor)
      },
    })
    expect(found.run).toMatchObject({ archived: 0, errors: [{ key: 'key' }] })
    expect(found).toMatchObject({ current: undefined, archived: ['first'] })
  })
})
