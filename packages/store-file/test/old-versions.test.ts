import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { conversationKey, createMemoryManager } from '@recall/core'
import { expect, it } from 'vitest'
import type { FileSystem } from '../src/files/file-system.ts'
import { checkUp, defaultFileSystem, openFileStore } from '../src/index.ts'
import { schemaVersion } from '../src/search-index/schema.ts'
import { loadSqlite } from '../src/sqlite/driver.ts'
import { dyingFileSystem } from './faulty-file-system.ts'
import { temporaryRoot } from './temporary-root.ts'

// Made by `make-fixture.ts` in checkouts of those versions.
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url))

const indexSchemas = readdirSync(fixtures).filter((name) => name.startsWith('index-schema-'))

it.each(indexSchemas)('what %s wrote opens, with its index built anew', async (name) => {
  const root = temporaryRoot()
  cpSync(join(fixtures, name), root, { recursive: true })
  const internal = join(root, 'memory/.recall')
  const database = (await loadSqlite())(join(internal, 'index.db'))
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as {
    user_version: number
  }
  database.close()
  expect(version).toBeLessThan(schemaVersion)

  const notices: string[] = []
  const store = await openFileStore({ root, onNotice: (text) => notices.push(text) })
  const memory = createMemoryManager({ stores: store })
  const first = await memory.search('long-term', { text: 'lighthouse' }, { touch: false })
  expect(first.map(({ key }) => key)).toEqual(['note'])
  expect(notices.join()).toContain('made by another version')
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
  // A copy would keep words that somebody wants forgotten.
  expect(readdirSync(internal).filter((file) => file.startsWith('index.db.'))).toEqual([])
  expect(
    checkUp(defaultFileSystem, store, { deep: true, fix: false }).find(({ check }) => check === 'index')?.ok,
  ).not.toBe(false)
  await memory.close()
})

const withVectors = indexSchemas.filter((name) =>
  existsSync(join(fixtures, name, 'memory/.recall/vectors.i8')),
)

it.each(withVectors)('vectors that %s kept are used, and no text is embedded again', async (name) => {
  const root = temporaryRoot()
  cpSync(join(fixtures, name), root, { recursive: true })
  let asked = 0
  const header = JSON.parse(readFileSync(join(root, 'memory/.recall/vectors.i8')).subarray(0, 256).toString())
  const embedder = {
    model: header.model as string,
    dimensions: header.dimensions as number,
    embed: async (texts: readonly string[], mode: 'document' | 'query') => {
      if (mode === 'document') asked += texts.length
      return texts.map(() => Float32Array.of(1, 0, 0, 0))
    },
  }
  const store = await openFileStore({ root, embedder })
  const memory = createMemoryManager({ stores: store, embedder })
  const [match] = await memory.search('long-term', { text: 'beacon' })
  expect(match).toMatchObject({ key: 'note', mode: 'hybrid' })
  expect(asked).toBe(0)
  await memory.close()
})

it.each(indexSchemas)('a process that dies while it opens what %s wrote costs nothing', async (name) => {
  const answers = async (root: string, fileSystem: FileSystem = defaultFileSystem) => {
    const memory = createMemoryManager({ stores: await openFileStore({ root, fileSystem }) })
    const found = await memory.search('long-term', { text: 'lighthouse' }, { touch: false })
    const archived = await memory.search('episodic', { text: 'ferry late' }, { touch: false })
    await memory.close()
    return [...found, ...archived].map(({ key }) => key)
  }
  for (let k = 1; ; k++) {
    const root = temporaryRoot()
    cpSync(join(fixtures, name), root, { recursive: true })
    const outcome = await answers(root, dyingFileSystem(k).fileSystem).catch((error: unknown) => error)
    expect(await answers(root), `killed before call ${k}`).toEqual(['note', conversationKey('s1')])
    if (!Array.isArray(outcome)) continue
    expect(k).toBeGreaterThan(1)
    return
  }
})
