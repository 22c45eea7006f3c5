import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type MemoryManager, type MemoryManagerOptions } from '@recall/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultFileSystem, type FileSystem, openFileStore } from '../src/index.ts'
import { conceptEmbedder } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const encryptionKey = new Uint8Array(32).fill(7)
const word = 'zencsecret'
const encrypt = true

async function openMemory(
  root: string,
  options: Partial<MemoryManagerOptions> = {},
  fileSystem: FileSystem = defaultFileSystem,
) {
  const embedder = conceptEmbedder()
  const store = await openFileStore({ root, create: true, embedder, fileSystem })
  const memory = createMemoryManager({ stores: store, embedder, encryptionKey, ...options })
  onTestFinished(() => memory.close())
  return { store, memory }
}

const filesWith = (root: string, text: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== 'lock.db')
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path, 'latin1').includes(text))

const vectorBytes = (root: string): number => readFileSync(join(root, 'memory/.recall/vectors.f32')).length

type Seal = (memory: MemoryManager) => Promise<unknown>
const ways: [string, Seal][] = [
  ['a write', (memory) => memory.write('long-term', 'diary', `${word} about an automobile`, { encrypt })],
  [
    'a batch',
    (memory) => memory.batchWrite('long-term', [{ key: 'diary', value: word, options: { encrypt } }]),
  ],
  [
    'an atomic update',
    (memory) =>
      memory.atomicUpdate('long-term', [
        { operation: 'set', key: 'diary', value: word, options: { encrypt } },
      ]),
  ],
]

describe('sealing an entry that was plain', () => {
  it.each(ways)('by %s leaves nothing plain, in the index and the vectors neither', async (_, seal) => {
    const root = temporaryRoot()
    const { memory, store } = await openMemory(root)
    await memory.write('long-term', 'diary', `${word} about an automobile`)
    await memory.write('long-term', 'other', 'A puppy')
    await memory.search('long-term', { text: word })
    expect(filesWith(root, word)).not.toEqual([])
    const before = vectorBytes(root)
    await seal(memory)
    expect(filesWith(root, word)).toEqual([])
    expect(vectorBytes(root)).toBeLessThan(before)
    expect(store.hasTraces()).toBe(false)
    expect(readdirSync(join(root, 'memory/.recall/erasing'))).toEqual([])
    expect((await memory.search('long-term', { text: 'hound' })).map(({ key }) => key)).toEqual(['other'])
    await memory.close()
    expect(filesWith(root, word)).toEqual([])
  })

  it('leaves nothing plain also where the entry had expired, or a section of a file had its key', async () => {
    const root = temporaryRoot()
    let now = Date.now()
    const { memory } = await openMemory(root, { clock: () => now })
    await memory.write('long-term', 'old', word, { ttl: 1000 })
    writeFileSync(join(root, 'memory/MEMORY.md'), `## Diary\n\n${word}\n`)
    await memory.search('long-term', { text: word })
    now += 2000
    await memory.write('long-term', 'old', 'sealed', { encrypt, overwrite: false })
    await memory.write('long-term', 'MEMORY.md#diary', 'sealed', { encrypt, ttl: 60_000 })
    expect(filesWith(root, word)).toEqual([])
  })

  it('rebuilds nothing for what is new, sealed already, or not to be sealed', async () => {
    const root = temporaryRoot()
    const made: string[] = []
    const fileSystem: FileSystem = {
      ...defaultFileSystem,
      mkdirSync: ((path: string, ...rest: []) => {
        made.push(path)
        return defaultFileSystem.mkdirSync(path, ...rest)
      }) as FileSystem['mkdirSync'],
    }
    const { memory } = await openMemory(root, {}, fileSystem)
    await memory.write('long-term', 'diary', 'one', { encrypt })
    await memory.write('long-term', 'diary', 'two', { encrypt })
    await memory.batchWrite('long-term', [{ key: 'diary', value: 'three', options: { encrypt } }])
    await memory.write('long-term', 'diary', 'four')
    await memory.write('long-term', 'diary', 'five')
    const isErasing = () => made.some((path) => path.endsWith('erasing'))
    expect(isErasing()).toBe(false)
    await memory.write('long-term', 'diary', 'six', { encrypt })
    expect(isErasing()).toBe(true)
  })
})
