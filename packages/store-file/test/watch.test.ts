import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conversationKey, conversationType } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory } from '../src/index.ts'
import { archiveOf } from './support/storm-values.ts'

async function openMemory() {
  const root = mkdtempSync(join(tmpdir(), 'recall-watch-'))
  const memory = await openFileMemory({ root })
  onTestFinished(async () => {
    await memory.close()
    rmSync(root, { recursive: true, force: true })
  })
  const find = async (text: string): Promise<string[]> =>
    (await memory.search('long-term', { text }, { touch: false, limit: 100 })).map(({ key }) => key).sort()
  return { root, memory, find, folder: join(root, 'memory/long-term') }
}

it('finds every edit in place at the very next search, however fast they follow each other', async () => {
  const { memory, find, folder } = await openMemory()
  await memory.write('long-term', 'diary', 'day zero')
  await find('day')
  await find('day')
  for (let day = 1; day <= 200; day++) {
    appendFileSync(join(folder, 'diary.md'), `entry${day}\n`)
    expect(await find(`entry${day}`)).toEqual(['diary'])
  }
})

it('sees files that come, go and move, and folders that are made while it is open', async () => {
  const { root, find, folder } = await openMemory()
  expect(await find('pool')).toEqual([])
  expect(await find('pool')).toEqual([])
  mkdirSync(folder, { recursive: true })
  expect(await find('pool')).toEqual([])
  writeFileSync(join(folder, 'leak.md'), 'the pool leaks\n')
  expect(await find('pool')).toEqual(['leak'])
  renameSync(join(folder, 'leak.md'), join(folder, 'drip.md'))
  expect(await find('pool')).toEqual(['drip'])
  writeFileSync(join(root, 'memory/MEMORY.md'), '## Pools\n\nA pool needs a limit.\n')
  expect(await find('pool')).toEqual(['MEMORY.md#pools', 'drip'])
  unlinkSync(join(folder, 'drip.md'))
  expect(await find('pool')).toEqual(['MEMORY.md#pools'])
})

it('goes on watching a folder that was replaced by another of the same name', async () => {
  const { root, find, folder } = await openMemory()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'old.md'), 'pool\n')
  expect(await find('pool')).toEqual(['old'])
  expect(await find('pool')).toEqual(['old'])
  renameSync(folder, join(root, 'aside'))
  mkdirSync(folder)
  writeFileSync(join(folder, 'new.md'), 'pool\n')
  expect(await find('pool')).toEqual(['new'])
  writeFileSync(join(folder, 'newer.md'), 'pool\n')
  expect(await find('pool')).toEqual(['new', 'newer'])
})

it('sees what another store on the same root writes', async () => {
  const { root, memory, find } = await openMemory()
  const other = await openFileMemory({ root })
  for (let i = 0; i < 50; i++) {
    await other.write('long-term', `note-${i}`, `pool number${i}`)
    expect(await find(`number${i}`)).toEqual([`note-${i}`])
    await memory.delete('long-term', `note-${i}`)
    expect(await other.search('long-term', { text: `number${i}` })).toEqual([])
  }
  await other.close()
})

it('sees what was written a moment ago, whatever the event loop is just about', async () => {
  const { memory, find, folder } = await openMemory()
  await memory.write('long-term', 'diary', 'day zero')
  await find('day')
  await find('day')
  for (let day = 1; day <= 50; day++) {
    // Goes on where the loop hands out what has arrived: it looks for more only in its next turn.
    await stat(folder)
    appendFileSync(join(folder, 'diary.md'), `entry${day}\n`)
    expect(await find(`entry${day}`)).toEqual(['diary'])
  }
})

it('knows what another handle wrote before the event loop has brought a notice of it', async () => {
  const { root, memory, find } = await openMemory()
  const other = await openFileMemory({ root })
  onTestFinished(() => other.close())
  const warm = async () => {
    for (let i = 0; i < 3; i++) for (const each of [find('pool'), other.search('long-term', {})]) await each
  }
  const { body, ...facts } = archiveOf('s', 1)
  for (let round = 0; round < 5; round++) {
    await warm()
    const sessionId = `s${round}`
    const key = conversationKey(sessionId)
    const archive = [
      'episodic',
      key,
      { ...facts, body, sessionId },
      { type: conversationType, tags: facts.topics, overwrite: false },
    ] as const
    await memory.write(...archive)
    expect(await other.read('episodic', key)).not.toBeNull()
    await expect(other.write(...archive)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    await memory.delete('episodic', key)
    expect(await other.exists('episodic', key)).toBe(false)
    await warm()
    await memory.write('long-term', 'note', 'pool', { tags: ['pool'] })
    await other.clear('long-term', { tags: ['pool'] })
    expect(await memory.exists('long-term', 'note')).toBe(false)
  }
  expect(readdirSync(join(root, 'memory/conversations'))).toEqual([])
})

/** How often files were looked at while a section ran. */
async function looksDuring(section: () => Promise<unknown>): Promise<number> {
  const look = vi.spyOn(defaultFileSystem, 'lstatSync')
  try {
    await section()
    return look.mock.calls.length
  } finally {
    look.mockRestore()
  }
}

it('looks at what was written, not at every other file, where the system tells in time', async () => {
  const { memory, find, folder } = await openMemory()
  mkdirSync(folder, { recursive: true })
  const others = 1000
  for (let i = 0; i < others; i++) writeFileSync(join(folder, `other-${i}.md`), 'nothing\n')
  // What is trusted for a time stays trusted, however slow the machine is.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  for (let i = 0; i < 3; i++) await find('pool')
  const looks = await looksDuring(async () => {
    for (let i = 0; i < 20; i++) {
      await memory.write('long-term', `note-${i}`, `pool number${i}`)
      expect(await find(`number${i}`)).toEqual([`note-${i}`])
    }
  })
  expect(looks < 5 * others).toBe(process.platform === 'linux')
})

it.each(['bun', 'deno'])('looks at every file under %s, which tells too late', async (runtime) => {
  vi.stubGlobal(
    'process',
    Object.create(process, { versions: { value: { ...process.versions, [runtime]: '1' } } }),
  )
  onTestFinished(() => void vi.unstubAllGlobals())
  const { find, folder } = await openMemory()
  mkdirSync(folder, { recursive: true })
  for (let i = 0; i < 100; i++) writeFileSync(join(folder, `other-${i}.md`), 'nothing\n')
  for (let i = 0; i < 3; i++) await find('pool')
  for (let i = 0; i < 5; i++) expect(await looksDuring(() => find('pool'))).toBeGreaterThanOrEqual(100)
})

it('sees that the folder of a namespace was moved away', async () => {
  const { root, find } = await openMemory()
  const lists = async () => (await other.search('long-term', { text: 'pool' })).map(({ key }) => key)
  const other = await openFileMemory({ root, namespace: 'team' })
  onTestFinished(() => other.close())
  await other.write('long-term', 'leak', 'the pool leaks')
  for (let i = 0; i < 3; i++) expect(await lists()).toEqual(['leak'])
  await find('pool')
  renameSync(join(root, 'memory/namespaces/team'), join(root, 'team'))
  await expect(lists()).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  renameSync(join(root, 'team'), join(root, 'memory/namespaces/team'))
  expect(await lists()).toEqual(['leak'])
  writeFileSync(join(root, 'memory/namespaces/team/long-term/drip.md'), 'the pool drips\n')
  expect((await lists()).sort()).toEqual(['drip', 'leak'])
})

it('sees a folder of a scope that a namespace gets while it is open', async () => {
  const { root, find } = await openMemory()
  const other = await openFileMemory({ root, namespace: 'team' })
  onTestFinished(() => other.close())
  const folder = join(root, 'memory/namespaces/team/short-term')
  const found = async () => (await other.search('short-term', { text: 'pool' })).map(({ key }) => key)
  await other.write('long-term', 'leak', 'the pool leaks')
  // What is trusted for a time stays trusted, however slow the machine is.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  for (let i = 0; i < 4; i++) expect([await found(), await find('pool')]).toEqual([[], []])
  mkdirSync(folder)
  writeFileSync(join(folder, 'drip.md'), 'the pool drips\n')
  expect(await found()).toEqual(['drip'])
  writeFileSync(join(folder, 'drop.md'), 'a drop of the pool\n')
  expect((await found()).sort()).toEqual(['drip', 'drop'])
})

it('finds every edit in place also after more changes than it remembers, in a memory of many files', async () => {
  const { find, folder } = await openMemory()
  mkdirSync(folder, { recursive: true })
  const paths = Array.from({ length: 2001 }, (_, i) => join(folder, `note-${i}.md`))
  for (const path of paths) writeFileSync(path, 'a rope\n')
  for (let i = 0; i < 4; i++) expect(await find('harbour')).toEqual([])
  for (const path of paths.slice(0, 1001)) appendFileSync(path, 'a harbour\n')
  appendFileSync(join(folder, 'note-2000.md'), 'a lighthouse\n')
  expect(await find('lighthouse')).toEqual(['note-2000'])
})
