import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, createMemoryManager } from '@recall/core'
import { describe, expect, it } from 'vitest'
import type { FileSystem } from '../src/files/file-system.ts'
import { checkUp, defaultFileSystem, openFileStore } from '../src/index.ts'
import { schemaVersion } from '../src/search-index/schema.ts'
import { dyingFileSystem } from './support/faulty-file-system.ts'
import { conceptEmbedder, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'
import { changeVersion, writeBefore } from './support/written-before.ts'

const versions = [
  ['an earlier', schemaVersion - 1],
  ['a later', schemaVersion + 1],
] as const

/** A closed memory with an index of another version. */
async function rootOf(version: number, embedder = conceptEmbedder()): Promise<string> {
  const root = temporaryRoot()
  await writeBefore(root, embedder)
  await changeVersion(root, version)
  return root
}

describe.each(versions)('an index of %s version', (_, version) => {
  it('is built anew, and nothing is lost', async () => {
    const root = await rootOf(version)
    const internal = join(root, 'memory/.recall')
    const notices: string[] = []
    const store = await openFileStore({ root, onNotice: (text) => notices.push(text) })
    const memory = createMemoryManager({ stores: store })
    const first = await memory.search('long-term', { text: 'lighthouse' }, { touch: false })
    expect(first.map(({ key }) => key)).toEqual(['note'])
    expect(notices).toEqual([expect.stringContaining('being rebuilt')])
    expect(await memory.read('long-term', 'note', { includeMetadata: true })).toMatchObject({
      value: 'The lighthouse stands at the harbour.',
      metadata: { tags: ['sea'], accessCount: expect.any(Number) },
    })
    expect(await memory.read('long-term', 'list')).toEqual({ ferries: ['one', 'two'], at: 'the ferry' })
    expect(await memory.read('long-term', 'MEMORY.md#tides')).toBe('The tide turns at noon.')
    expect(await memory.read('episodic', conversationKey('s1'))).toMatchObject({
      sessionId: 's1',
      topics: ['ferry'],
    })
    const found = await memory.search('episodic', { text: 'ferry late' })
    expect(found.map(({ key }) => key)).toEqual([conversationKey('s1')])
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.find(({ check }) => check === 'index')?.ok).not.toBe(false)
    await memory.close()
    expect(readFileSync(join(internal, 'index.db')).includes('of_another_version')).toBe(false)
  })

  it('leaves the vectors in use: no text is embedded again', async () => {
    const embedder = conceptEmbedder()
    const root = await rootOf(version, embedder)
    embedder.asked.length = 0
    const { memory } = await memoryAt(root, embedder)
    const [match] = await memory.search('long-term', { text: 'beacon' })
    expect(match).toMatchObject({ mode: 'hybrid' })
    expect(embedder.asked).toEqual([])
  })

  it('costs nothing where the process that opens it dies', async () => {
    const before = await rootOf(version)
    const answers = async (root: string, fileSystem: FileSystem = defaultFileSystem) => {
      const memory = createMemoryManager({ stores: await openFileStore({ root, fileSystem }) })
      const found = await memory.search('long-term', { text: 'lighthouse' }, { touch: false })
      const archived = await memory.search('episodic', { text: 'ferry late' }, { touch: false })
      await memory.close()
      return [...found, ...archived].map(({ key }) => key)
    }
    for (let k = 1; ; k++) {
      const root = temporaryRoot()
      cpSync(before, root, { recursive: true })
      const outcome = await answers(root, dyingFileSystem(k).fileSystem).catch((error: unknown) => error)
      expect(await answers(root), `killed before call ${k}`).toEqual(['note', conversationKey('s1')])
      if (!Array.isArray(outcome)) continue
      expect(k).toBeGreaterThan(1)
      return
    }
  })
})

it('an index of another version is not set aside: a copy would keep words that somebody wants forgotten', async () => {
  const root = await rootOf(schemaVersion + 1)
  const notices: string[] = []
  const store = await openFileStore({ root, onNotice: (text) => notices.push(text) })
  const memory = createMemoryManager({ stores: store })
  expect(await memory.search('long-term', { text: 'lighthouse' }, { touch: false })).toHaveLength(1)
  expect(notices).toEqual([expect.stringContaining('made by another version')])
  const left = readdirSync(join(root, 'memory/.recall')).filter((name) => name.includes('.corrupt-'))
  expect(left).toEqual([])
  await memory.close()
})
