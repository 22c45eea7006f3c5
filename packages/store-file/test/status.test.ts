import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { conversationKey, conversationType } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { defaultConfig } from '../src/default-config.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { layouts } from '../src/layout/layout.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { readStatus } from '../src/status.ts'
import { open } from './support/memory-in-files.ts'
import { archiveOf } from './support/storm-values.ts'

const statusOf = (root: string) =>
  readStatus(defaultFileSystem, root, layouts.entity, { config: defaultConfig })

it('tells whether the index is in step without opening it, and nothing of one that is open', async () => {
  const { root, memory, at } = await open()
  const indexOf = () => statusOf(root).index
  expect(indexOf()).toEqual({ fresh: false, documents: 0 })
  await memory.write('long-term', 'note', 'text')
  await memory.search('long-term', { text: 'text' })
  expect(indexOf()).toBeNull()
  await memory.close()
  expect(indexOf()).toEqual({ fresh: true, documents: 1 })
  mkdirSync(at('.recall/writers'), { recursive: true })
  writeFileSync(at('.recall/writers/1-1-00000000a'), 'memory/long-term/note.md\n')
  expect(indexOf()).toEqual({ fresh: false, documents: 1 })
})

it('tells of an index that a file was added behind', async () => {
  const { root, memory, at } = await open()
  await memory.write('long-term', 'note', 'text')
  await memory.search('long-term', { text: 'text' })
  await memory.close()
  writeFileSync(at('long-term/other.md'), 'by hand')
  expect(statusOf(root).index).toEqual({ fresh: false, documents: 1 })
})

it('takes an index for in step whose folder has a time in whole seconds, which it looks at again', async () => {
  const { root, memory, at } = await open()
  await memory.write('long-term', 'note', 'text')
  await memory.close()
  vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / 1000) * 1000 })
  onTestFinished(() => void vi.useRealTimers())
  utimesSync(at('long-term'), new Date(), new Date())
  const again = await openFileMemory({ root })
  await again.search('long-term', { text: 'text' })
  await again.close()
  expect(statusOf(root).index).toEqual({ fresh: true, documents: 1 })
})

it('names no helper among the sessions that ended last', async () => {
  const { root, memory } = await open()
  for (const [i, id] of ['s1', 's1/agent-1'].entries())
    await memory.write('episodic', conversationKey(id), archiveOf(id, i + 1), { type: conversationType })
  expect(statusOf(root).recent.map(({ session }) => session)).toEqual(['s1'])
})

it('names an archive that cannot be read among the faults, and goes on with the rest', async () => {
  const { root, memory, at } = await open()
  for (const [i, id] of ['s1', 's2'].entries())
    await memory.write('episodic', conversationKey(id), archiveOf(id, i + 1), { type: conversationType })
  writeFileSync(at('conversations/conversation-002.md'), Buffer.from([0xff]))
  const { recent, faults } = statusOf(root)
  expect(recent.map(({ session }) => session)).toEqual(['s1'])
  expect(faults).toEqual([expect.stringContaining('conversation-002.md is not UTF-8')])
})

it('names what keeps everything else from opening the memory among the faults', async () => {
  const { root, memory, at } = await open()
  await memory.write('long-term', 'note', 'text')
  await memory.close()
  expect(statusOf(root).faults).toEqual([])
  rmSync(at('.recall'), { recursive: true })
  writeFileSync(at('.recall'), 'mine')
  expect(statusOf(root).faults).toEqual([
    `${at('.recall')} is a file, and has to be a folder: move it away, and the folder is created again`,
  ])
})

it('says what is wrong with the configuration', async () => {
  const { root } = await open()
  const config = { config: defaultConfig, problem: 'max_entries is a number' }
  expect(readStatus(defaultFileSystem, root, layouts.entity, config)).toMatchObject({
    problem: 'max_entries is a number',
  })
  expect(statusOf(root)).not.toHaveProperty('problem')
})
