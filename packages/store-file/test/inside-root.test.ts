import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType, type MemoryManager } from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { failure, keysOf, open } from './support/memory-in-files.ts'
import { archiveOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

describe('a way out of the root', () => {
  it.each(['../outside', '../../outside', '/etc/passwd', '..', 'a/../../b', 'C:\\x', '..\\x', '../x.md#x'])(
    'is not taken by a key: %s',
    async (key) => {
      const { root, memory, at } = await open()
      await memory.write('long-term', key, 'inside')
      expect(await memory.read('long-term', key)).toBe('inside')
      expect(readdirSync(at('long-term'))).toHaveLength(1)
      expect(readdirSync(root)).toEqual(['memory'])
      await memory.close()
    },
  )

  it('is not taken by a folder that is a link', async () => {
    const { memory, at } = await open()
    const outside = temporaryRoot()
    writeFileSync(join(outside, 'private.md'), 'a private harbour')
    await memory.write('episodic', 'kept', 'inside')
    symlinkSync(outside, at('long-term'))
    await failure(memory.read('long-term', 'private'), 'MEMORY_FORBIDDEN')
    await failure(memory.write('long-term', 'new', 'x'), 'MEMORY_FORBIDDEN')
    await failure(memory.search('long-term', { text: 'harbour' }), 'MEMORY_FORBIDDEN')
    expect(readdirSync(outside)).toEqual(['private.md'])
    expect(await memory.read('episodic', 'kept')).toBe('inside')
    await memory.close()
  })
})

const everyCall = (memory: MemoryManager): (() => Promise<unknown>)[] => [
  () => memory.write('long-term', 'note', 'x'),
  () => memory.write('short-term', 'other', 'x', { overwrite: false }),
  () => memory.write('long-term', 'MEMORY.md#other', 'x'),
  () => memory.batchWrite('long-term', [{ key: 'other', value: 'x' }]),
  () => memory.atomicUpdate('long-term', [{ operation: 'delete', key: 'note' }]),
  () => memory.delete('long-term', 'note'),
  () => memory.clear('long-term'),
  () => memory.read('long-term', 'note'),
  () => memory.batchRead('long-term', ['note']),
  () => memory.exists('long-term', 'note'),
  () => memory.search('long-term', {}),
  () => memory.search('episodic', {}, { includeArchived: true }),
  () => memory.read('episodic', 'old', { includeArchived: true }),
  () => memory.restore('episodic', 'old'),
]

describe('what is not there', () => {
  it.each(['m', 'm/memory'])('is an error and never an empty memory: %s', async (folder) => {
    const place = temporaryRoot()
    const root = join(place, 'm')
    const gone = join(place, folder)
    await failure(openFileMemory({ root }), 'MEMORY_UNAVAILABLE')
    const memory = await openFileMemory({ root, create: true })
    await memory.write('long-term', 'note', 'the harbour')
    await memory.search('long-term', { text: 'harbour' })
    renameSync(gone, join(place, 'away'))
    await failure(memory.read('long-term', 'note'), 'MEMORY_UNAVAILABLE')
    await failure(memory.search('long-term', { text: 'harbour' }), 'MEMORY_UNAVAILABLE')
    for (const call of everyCall(memory)) await failure(call(), 'MEMORY_UNAVAILABLE')
    expect((await memory.cleanup()).errors).not.toEqual([])
    expect(existsSync(gone)).toBe(false)
    renameSync(join(place, 'away'), gone)
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.close()
  })

  it.each(['memory/conversations', 'memory/namespaces/team'])(
    'is an error until the loss is accepted: the folder %s',
    async (folder) => {
      const { root, memory } = await open()
      const team = await openFileMemory({ root, namespace: 'team' })
      await team.write('long-term', 'note', 'theirs')
      await team.close()
      await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
      await memory.search('episodic', {})
      rmSync(join(root, folder), { recursive: true })
      expect(await failure(memory.search('episodic', {}), 'MEMORY_UNAVAILABLE')).toMatch(
        new RegExp(`${folder.replaceAll('/', '[\\\\/]')}.* is missing, but 1 file was there: put it back`),
      )
      const store = await openFileStore({ root })
      store.reindex({ full: true })
      await store.close()
      await memory.search('episodic', {})
      await memory.close()
    },
  )

  it('a stray file among the namespaces disturbs nobody', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour')
    mkdirSync(at('namespaces'))
    writeFileSync(at('namespaces/.DS_Store'), '')
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.close()
  })
})

it('refuses a root that holds two layouts until it is told which one to use', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  mkdirSync(join(root, 'memories'))
  await failure(openFileMemory({ root }), 'MEMORY_CONFLICT')
  const memory = await openFileMemory({ root, layout: 'user' })
  await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
  expect(readdirSync(join(root, 'memories'))).toEqual(['archive-log-001.md'])
  await memory.close()
})
