import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTicker } from '@recall/core/conformance'
import { expect, it } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { open } from './support/memory-in-files.ts'
import { temporaryRoot } from './support/temporary-root.ts'

it('sweeps only what has expired by its file', async () => {
  const root = temporaryRoot()
  const { clock, advance } = createTicker()
  const memory = await openFileMemory({ root, clock })
  await memory.write('short-term', 'brief', 'x', { ttl: 1000 })
  await memory.write('short-term', 'longer', 'x', { ttl: 9000 })
  advance(2000)
  expect((await memory.cleanup({ dryRun: true })).deleted).toBe(1)
  expect((await memory.cleanup()).deleted).toBe(1)
  expect(readdirSync(join(root, 'memory/short-term'))).toEqual(['longer.md'])
  await memory.close()
})

it('deletes nothing while the log that says what was read lately cannot be opened', async () => {
  const root = temporaryRoot()
  const at = (name: string): string => join(root, 'memory', name)
  const { clock, advance } = createTicker()
  const first = await openFileMemory({ root, clock })
  await first.write('short-term', 'read', 'x', { ttl: 9000 })
  advance(5000)
  await first.read('short-term', 'read')
  await first.close()
  rmSync(at('.recall/index.db'))
  const log = ['access.db', 'access.db-wal', 'access.db-shm']
  for (const name of log) renameSync(at(`.recall/${name}`), at(name))
  mkdirSync(at('.recall/access.db'))

  advance(5000)
  const memory = await openFileMemory({ root, clock })
  for (const dryRun of [true, false]) {
    const { deleted, errors } = await memory.cleanup({ dryRun })
    expect(deleted).toBe(0)
    expect(errors).toEqual([
      { scope: 'short-term', message: expect.stringContaining('access.db cannot be read') },
    ])
  }
  await memory.close()
  rmdirSync(at('.recall/access.db'))
  for (const name of log) renameSync(at(name), at(`.recall/${name}`))

  const again = await openFileMemory({ root, clock })
  expect((await again.cleanup()).deleted).toBe(0)
  advance(5000)
  expect((await again.cleanup()).deleted).toBe(1)
  await again.close()
})

it('many entries are removed in steps: no more of their texts is held at once, and others may write between', async () => {
  let journals = 0
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    renameSync(from, to) {
      if (String(to).endsWith('journal.json')) journals++
      defaultFileSystem.renameSync(from, to)
    },
  }
  const { memory, at } = await open({ fileSystem })
  const people = Array.from({ length: 5 }, () => '## People\n\nAda\n').join('\n')
  const notes = Array.from({ length: 245 }, (_, i) => ({ key: `note-${i}`, value: 'text' }))
  await memory.batchWrite('long-term', notes)
  writeFileSync(at('MEMORY.md'), people)
  journals = 0
  await memory.clear('long-term')
  expect(journals).toBe(3)
  expect(await memory.search('long-term', {})).toEqual([])
  expect(readFileSync(at('MEMORY.md'), 'utf8')).not.toContain('Ada')
})
