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
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conversationKey, conversationType } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import { openFileMemory } from '../src/index.ts'
import { archiveOf } from './storm-values.ts'

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
