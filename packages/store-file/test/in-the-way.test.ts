import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MemoryManager } from '@recall/core'
import { expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { failure } from './support/memory-in-files.ts'
import { isPosix } from './support/platform.ts'
import { temporaryRoot } from './support/temporary-root.ts'

/** A memory with a note, opened again after something was put in the place of a part of it. */
async function withInTheWay(name: string, put: (path: string) => void) {
  const root = temporaryRoot()
  const first = await openFileMemory({ root })
  await first.write('long-term', 'key', 'harbour')
  await first.search('long-term', { text: 'harbour' })
  await first.close()
  const path = join(root, 'memory', name)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(dirname(path), { recursive: true })
  put(path)
  const doctor = async () => {
    const store = await openFileStore({ root })
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    await store.close()
    return findings.filter(({ ok }) => !ok)
  }
  return { root, path, doctor, memory: await openFileMemory({ root }) }
}

const file = (path: string): void => writeFileSync(path, 'of somebody')

const everyCall: [name: string, call: (memory: MemoryManager) => Promise<unknown>][] = [
  ['read', (memory) => memory.read('long-term', 'key')],
  ['search', (memory) => memory.search('long-term', { text: 'harbour' })],
  ['list', (memory) => memory.search('long-term', {})],
  ['write', (memory) => memory.write('long-term', 'other', 'text')],
  ['delete', (memory) => memory.delete('long-term', 'key')],
  ['clear', (memory) => memory.clear('long-term', {})],
]

const archivedCalls: typeof everyCall = [
  ['read of archived entries', (memory) => memory.read('long-term', 'none', { includeArchived: true })],
  [
    'search of archived entries',
    (memory) => memory.search('long-term', { text: 'x' }, { includeArchived: true }),
  ],
  ['restore', (memory) => memory.restore('long-term', 'none')],
  ['clear', (memory) => memory.clear('long-term', {})],
]

// Windows takes what lies below a file for absent.
it.runIf(isPosix).each([
  ['long-term', everyCall],
  ['namespaces', everyCall.filter(([name]) => ['search', 'list'].includes(name))],
  ['cold', archivedCalls],
] as const)(
  'says that a file is in the place of the folder %s, and what to do, whatever is called',
  async (name, calls) => {
    const { memory, path, doctor } = await withInTheWay(name, file)
    const message = `${path} is a file, and has to be a folder: move it away`
    for (const [, call] of calls) expect(await failure(call(memory), 'MEMORY_UNAVAILABLE')).toContain(message)
    expect(JSON.stringify(await doctor())).toContain(message)
    await memory.close()
  },
)

it('says that a folder is in the place of the journal, and what to do, whatever is called', async () => {
  const { memory, path, doctor } = await withInTheWay('.recall/journal.json', mkdirSync)
  for (const [, call] of everyCall)
    expect(await failure(call(memory), 'MEMORY_CORRUPTION')).toContain(`${path} cannot be read`)
  expect(await doctor()).toEqual([
    {
      check: 'writing',
      ok: false,
      message: 'memory/.recall/journal.json is a folder, and in the way of a file',
      remedy: expect.stringContaining('move it away'),
    },
  ])
  rmdirSync(path)
  expect(await memory.read('long-term', 'key')).toBe('harbour')
  await memory.close()
})

it('works with a file in the place of the notes of writers, which the doctor names', async () => {
  const { memory, root, doctor } = await withInTheWay('.recall/writers', file)
  const other = await openFileMemory({ root })
  await memory.write('long-term', 'new', 'the zebra')
  expect(await other.search('long-term', { text: 'zebra' })).toHaveLength(1)
  await memory.delete('long-term', 'key')
  expect(await memory.search('long-term', { text: 'harbour' })).toEqual([])
  expect(await doctor()).toMatchObject([
    { check: 'writing', message: 'memory/.recall/writers is a file, and in the way of a folder' },
  ])
  await other.close()
  await memory.close()
})
