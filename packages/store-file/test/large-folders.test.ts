import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { internal } from './support/index-answers.ts'
import { keysOf, open } from './support/memory-in-files.ts'

/** More notes than are looked at one by one before every search, on a disk that tells of no change. */
async function openLarge() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const listed: string[] = []
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    opendirSync(path) {
      listed.push(String(path))
      return defaultFileSystem.opendirSync(path)
    },
  }
  const { root, memory, at } = await open({ fileSystem })
  mkdirSync(at('long-term'), { recursive: true })
  for (let i = 0; i < 2001; i++)
    writeFileSync(at(`long-term/note-${i}.md`), i === 7 ? 'the harbour' : 'a rope')
  expect(await keysOf(memory, 'harbour')).toEqual(['note-7'])
  const reopen = () => openFileMemory({ root, fileSystem })
  return {
    memory,
    at: (name: string, folder = 'long-term') => at(`${folder}/${name}.md`),
    listed,
    root,
    reopen,
  }
}

it('is listed again only when a file comes or goes, which the next search knows', async () => {
  const { memory, at, listed } = await openLarge()
  listed.length = 0
  expect(await keysOf(memory, 'harbour')).toEqual(['note-7'])
  expect(listed.filter((path) => path.endsWith('long-term'))).toEqual([])
  writeFileSync(at('new'), 'the harbour')
  expect((await keysOf(memory, 'harbour')).sort()).toEqual(['new', 'note-7'])
  rmSync(at('new'))
  expect(await keysOf(memory, 'harbour')).toEqual(['note-7'])
})

it('says while files were passed over that may have been edited in place', async () => {
  const { root, memory, at } = await openLarge()
  await memory.close()
  const store = await openFileStore({ root })
  onTestFinished(() => store.close())
  const asked = () => {
    const query = { namespace: 'default', text: 'lighthouse', limit: 1, minScore: 0, now: Date.now() }
    return [store.locate(query, ['long-term']).length, store.index.mayLag()]
  }
  writeFileSync(at('note-7'), 'the lighthouse')
  expect(asked()).toEqual([0, true])
  store.reindex({ full: false })
  expect([store.index.mayLag(), ...asked()]).toEqual([false, 1, true])
  rmSync(at('note-1'))
  expect(asked()).toEqual([1, false])
})

it('leaves no edit in place unseen in a small folder beside it', async () => {
  const { memory, at } = await openLarge()
  await memory.write('short-term', 'today', 'a rope')
  expect(await memory.search('short-term', { text: 'rope' })).toHaveLength(1)
  writeFileSync(at('today', 'short-term'), 'the lighthouse')
  expect(await memory.search('short-term', { text: 'lighthouse' })).toHaveLength(1)
})

it('knows a file that a person added before its own write, or between two of them', async () => {
  const { memory, at } = await openLarge()
  await memory.write('long-term', 'first', 'a rope')
  expect(await keysOf(memory, 'lighthouse')).toEqual([])
  writeFileSync(at('before'), 'the lighthouse')
  await memory.write('long-term', 'second', 'a rope')
  expect(await keysOf(memory, 'lighthouse')).toEqual(['before'])
  await memory.write('long-term', 'third', 'a rope')
  writeFileSync(at('between'), 'the lighthouse')
  await memory.write('long-term', 'fourth', 'a rope')
  expect((await keysOf(memory, 'lighthouse')).sort()).toEqual(['before', 'between'])
})

it('gives no hit for what a file said before it was edited in place', async () => {
  const { memory, at } = await openLarge()
  writeFileSync(at('note-7'), 'the lighthouse')
  expect(await keysOf(memory, 'harbour')).toEqual([])
  expect(await keysOf(memory, 'lighthouse')).toEqual(['note-7'])
})

it.each([61_000, -1000])('is looked at file by file when the clock has moved by %i ms', async (passed) => {
  const { memory, at } = await openLarge()
  writeFileSync(at('note-3'), 'the lighthouse')
  expect(await keysOf(memory, 'lighthouse')).toEqual([])
  vi.setSystemTime(Date.now() + passed)
  expect(await keysOf(memory, 'lighthouse')).toEqual(['note-3'])
})

it.each([
  ['closed', []],
  ['killed', ['note-3']],
])('after a process that was %s, the next one finds of edits in place: %j', async (end, found) => {
  const { memory, at, root, reopen } = await openLarge()
  const log = join(internal(root), 'index.db-wal')
  writeFileSync(at('note-3'), 'the lighthouse')
  copyFileSync(log, `${log}-copy`)
  await memory.close()
  if (end === 'killed') {
    copyFileSync(`${log}-copy`, log)
    rmSync(join(internal(root), 'index.seal'))
  }
  const next = await reopen()
  expect(await keysOf(next, 'lighthouse')).toEqual(found)
  await next.close()
})
