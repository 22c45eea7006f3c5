import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import {
  conversationKey,
  conversationType,
  createMemoryManager,
  type Embedder,
  type Expected,
  redactText,
  rotateEncryption,
} from '@recall/core'
import { createConceptEmbedder, createTicker } from '@recall/core/conformance'
import { thisProcess } from '@recall/core/process'
import { createMemoryCache } from '@recall/core/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import type { FileStore } from '../src/file-store.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileStore } from '../src/open-file-memory.ts'
import { scrubFiles } from '../src/scrub.ts'
import { isPosix } from './support/platform.ts'
import { archiveOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const day = 24 * 60 * 60 * 1000

async function open(root = temporaryRoot()) {
  const time = createTicker()
  const stores = await openFileStore({ root })
  const memory = createMemoryManager({ stores, clock: time.clock })
  onTestFinished(() => memory.close())
  return { root, time, stores, memory }
}

describe('archived entries', () => {
  it('are told as surely where the others are found by meaning, for an archive keeps no vectors', async () => {
    const text = 'blue door'
    const told = async (embedder?: Embedder): Promise<number | undefined> => {
      const time = createTicker()
      const stores = await openFileStore({ root: temporaryRoot(), ...(embedder ? { embedder } : {}) })
      const memory = createMemoryManager({ stores, clock: time.clock, ...(embedder ? { embedder } : {}) })
      onTestFinished(() => memory.close())
      await memory.write('episodic', 'old', 'The blue door of the house.')
      time.advance(100 * day)
      await memory.cleanup()
      await memory.write('episodic', 'new', 'A dog in the rain.')
      const [found] = await memory.search('episodic', { text }, { includeArchived: true })
      expect(found).toMatchObject({ key: 'old', archived: true })
      return found?.confidence
    }
    expect(await told(createConceptEmbedder())).toBeCloseTo((await told()) ?? -1, 9)
  })

  it('are one compressed file each, which any tool can read', async () => {
    const { root, time, memory } = await open()
    await memory.write('episodic', 'run 1', { note: 'blue '.repeat(1000) }, { tags: ['t'] })
    time.advance(100 * day)
    expect(await memory.cleanup()).toMatchObject({ archived: 1, errors: [] })
    const folder = join(root, 'memory/cold/episodic')
    const [name = '', ...others] = readdirSync(folder)
    expect(others).toEqual([])
    const bytes = readFileSync(join(folder, name))
    expect(bytes.length).toBeLessThan(500)
    expect(JSON.parse(gunzipSync(bytes).toString())).toMatchObject({ version: 1, key: 'run 1', tags: ['t'] })
    expect(readdirSync(join(root, 'memory/episodic'))).toEqual([])
    await memory.close()
  })

  it('leaves conversations where people read them', async () => {
    const { root, time, memory } = await open()
    for (const id of ['a', 'b']) {
      await memory.write('episodic', conversationKey(id), archiveOf(id, 1), { type: conversationType })
    }
    await memory.write('episodic', 'plain', 1)
    time.advance(100 * day)
    for (const dryRun of [true, false])
      expect(await memory.cleanup({ dryRun })).toMatchObject({ archived: 1, errors: [] })
    expect(readdirSync(join(root, 'memory/conversations'))).toHaveLength(2)
    expect(await memory.exists('episodic', conversationKey('a'))).toBe(true)
    await memory.close()
  })

  it('that cannot be read are an error, not an absence', async () => {
    const { root, time, memory } = await open()
    await memory.write('episodic', 'key', 1)
    time.advance(100 * day)
    await memory.cleanup()
    const path = join(root, 'memory/cold/episodic/key.json.gz')
    const whole = readFileSync(path)
    writeFileSync(path, whole.subarray(0, whole.length / 2))
    await expect(memory.restore('episodic', 'key')).rejects.toMatchObject({ code: 'MEMORY_CORRUPTION' })
    await expect(memory.search('episodic', {}, { includeArchived: true })).rejects.toMatchObject({
      code: 'MEMORY_CORRUPTION',
    })
    await memory.cleanup()
    expect(existsSync(path)).toBe(true)
    rmSync(path)
    writeFileSync(join(root, 'other'), whole)
    symlinkSync(join(root, 'other'), path)
    await expect(memory.restore('episodic', 'key')).rejects.toMatchObject({ code: 'MEMORY_CORRUPTION' })
    await memory.close()
  })

  it('of another memory stay there, and are not seen, where a link leads to them', async () => {
    const theirs = await open()
    await theirs.memory.write('episodic', 'key', 'theirs')
    theirs.time.advance(100 * day)
    await theirs.memory.cleanup()
    const folder = 'memory/cold/episodic'
    const name = 'key.json.gz'
    const { root, time, memory } = await open()
    mkdirSync(join(root, folder), { recursive: true })
    symlinkSync(join(theirs.root, folder, name), join(root, folder, name))
    const read = () => memory.read('episodic', 'key', { includeArchived: true })
    await expect(read()).rejects.toMatchObject({ code: 'MEMORY_CORRUPTION' })
    rmSync(join(root, folder), { recursive: true })
    symlinkSync(join(theirs.root, folder), join(root, folder))
    const search = () => memory.search('episodic', {}, { includeArchived: true })
    for (const call of [read, search, () => memory.delete('episodic', 'key'), () => memory.clear('episodic')])
      await expect(call()).rejects.toMatchObject({ code: 'MEMORY_FORBIDDEN' })
    await memory.write('episodic', 'own', 'mine')
    time.advance(100 * day)
    expect(await memory.cleanup()).toMatchObject({ archived: 0 })
    expect(await memory.read('episodic', 'own')).toBe('mine')
    expect(readdirSync(join(theirs.root, folder))).toEqual([name])
    await memory.close()
    await theirs.memory.close()
  })

  it('are told from what a person or a system puts beside them', async () => {
    const { root, time, memory } = await open()
    await memory.write('episodic', 'key', 1)
    time.advance(100 * day)
    await memory.cleanup()
    const folder = join(root, 'memory/cold/episodic')
    const others = ['._key.json.gz', 'about.txt']
    for (const name of others) writeFileSync(join(folder, name), 'of somebody else')
    const found = await memory.search('episodic', {}, { includeArchived: true })
    expect(found.map(({ key }) => key)).toEqual(['key'])
    await memory.clear('episodic')
    expect(readdirSync(folder).sort()).toEqual(others)
    await memory.close()
  })

  it('are read by the key that they have, and not by the name of their file', async () => {
    const { root, time, memory } = await open()
    await memory.write('episodic', 'key', 1)
    time.advance(100 * day)
    await memory.cleanup()
    const folder = join(root, 'memory/cold/episodic')
    renameSync(join(folder, 'key.json.gz'), join(folder, 'other.json.gz'))
    expect(await memory.read('episodic', 'other', { includeArchived: true })).toBeNull()
    expect(await memory.restore('episodic', 'other')).toBe(false)
    expect(readdirSync(folder)).toEqual(['other.json.gz'])
    await memory.close()
  })

  it('of a later version are an error, and not half understood', async () => {
    const { root, time, memory } = await open()
    await memory.write('episodic', 'key', 1)
    time.advance(100 * day)
    await memory.cleanup()
    const path = join(root, 'memory/cold/episodic/key.json.gz')
    const packed = JSON.parse(gunzipSync(readFileSync(path)).toString())
    writeFileSync(path, gzipSync(JSON.stringify({ ...packed, version: 2 })))
    await expect(memory.restore('episodic', 'key')).rejects.toMatchObject({ code: 'MEMORY_CORRUPTION' })
    await memory.close()
  })

  it('are changed only as long as they are what was read', async () => {
    const { time, stores, memory } = await open()
    await memory.write('episodic', 'key', 'first')
    time.advance(100 * day)
    await memory.cleanup()
    const now = time.clock()
    const entry = await stores.cold?.get({ namespace: 'default', scope: 'episodic', key: 'key' }, now)
    if (!entry) return expect.unreachable('it is archived')
    const { updatedAt } = entry
    const change = (value: string, expected: Expected) =>
      stores.cold?.commit([{ put: { ...entry, value }, options: { overwrite: true, now }, expected }])
    for (const expected of [{ updatedAt: updatedAt + 1 }, { updatedAt, value: 'other' }])
      await expect(change('lost', expected)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    await expect(stores.cold?.put(entry, { overwrite: false, now })).rejects.toMatchObject({
      code: 'MEMORY_CONFLICT',
    })
    await change('second', { updatedAt, value: 'first' })
    expect(await memory.read('episodic', 'key', { includeArchived: true })).toBe('second')
    await memory.close()
  })

  it('leave nothing of a process that died while it wrote one', async () => {
    const { root, time, memory } = await open()
    await memory.write('episodic', 'key', 1)
    time.advance(100 * day)
    await memory.cleanup()
    const folder = join(root, 'memory/cold/episodic')
    writeFileSync(join(folder, `.tmp-999999999-${thisProcess().place}00`), 'unfinished')
    await memory.cleanup({ dryRun: true })
    expect(readdirSync(folder)).toHaveLength(2)
    await memory.cleanup()
    expect(readdirSync(folder)).toEqual(['key.json.gz'])
    await memory.close()
  })

  it.runIf(isPosix).each(['key', 'conversation:key'])(
    'are no more readable than the note that %s was, nor is that when it is restored',
    async (key) => {
      const { root, time, memory } = await open()
      await memory.write('episodic', key, 'private')
      const inFolder = (folder: string): string => {
        const [name = ''] = readdirSync(join(root, folder))
        return join(root, folder, name)
      }
      const modeIn = (folder: string): number => statSync(inFolder(folder)).mode & 0o777
      chmodSync(inFolder('memory/episodic'), 0o600)
      time.advance(100 * day)
      await memory.cleanup()
      expect(modeIn('memory/cold/episodic')).toBe(0o600)
      await memory.restore('episodic', key)
      expect(modeIn('memory/episodic')).toBe(0o600)
      await memory.close()
    },
  )

  it.each([
    ['the doctor', (store: FileStore) => void checkUp(defaultFileSystem, store, { deep: false, fix: true })],
    ['a reindex', (store: FileStore) => store.reindex({ full: false })],
    ['an erasure', (store: FileStore) => store.beginErasure()()],
    [
      'a clean-up',
      (store: FileStore) => store.cold?.sweep({ scope: 'episodic', namespace: 'z', now: 0, dryRun: false }),
    ],
  ])('leave nothing unfinished beside them after %s, where nothing else is archived', async (_, tidy) => {
    const root = temporaryRoot()
    const store = await openFileStore({ root })
    const folder = join(root, 'memory/cold/namespaces/z/episodic')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `.tmp-999999999-${thisProcess().place}00`), 'unfinished')
    writeFileSync(join(folder, `.tmp-${process.pid}-${thisProcess().place}00`), 'being written')
    const found = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    const { message } = found.find(({ check }) => check === 'leftovers') ?? {}
    expect(message).toMatch(/^memory\/cold\/namespaces\/z\/episodic\/\.tmp-9+-\w+ was never finished$/)
    await tidy(store)
    expect(readdirSync(folder)).toEqual([`.tmp-${process.pid}-${thisProcess().place}00`])
    await store.close()
  })

  it('leave a folder to its owner to which their own one is a link', async () => {
    const [root, other] = [temporaryRoot(), temporaryRoot()]
    const name = `.tmp-999999999-${thisProcess().place}00`
    writeFileSync(join(other, name), 'unfinished')
    mkdirSync(join(root, 'memory'))
    symlinkSync(other, join(root, 'memory/cold'))
    const store = await openFileStore({ root })
    store.reindex({ full: true })
    expect(readdirSync(other)).toEqual([name])
    await store.close()
  })

  it('are scrubbed with everything else', async () => {
    const root = temporaryRoot()
    const time = createTicker()
    const stores = await openFileStore({ root })
    const memory = createMemoryManager({ stores, clock: time.clock, redact: 'allow' })
    await memory.write('episodic', 'login', { note: 'password: hunter2hunter2', n: 1 }, { tags: ['t'] })
    time.advance(100 * day)
    await memory.cleanup()
    const path = 'memory/cold/episodic/login.json.gz'
    const counts = { password: 2 }
    expect(scrubFiles(defaultFileSystem, stores, redactText, false)).toEqual([{ path, counts }])
    expect(scrubFiles(defaultFileSystem, stores, redactText, true)).toEqual([{ path, counts }])
    expect(scrubFiles(defaultFileSystem, stores, redactText, true)).toEqual([])
    expect(await memory.restore('episodic', 'login')).toBe(true)
    expect(await memory.read('episodic', 'login')).toEqual({ note: 'password: [redacted:password]', n: 1 })
    await memory.close()
  })

  it.each([undefined, 'of the door'])(
    'are scrubbed of what only the name of a member tells (text: %s)',
    async (text) => {
      const root = temporaryRoot()
      const time = createTicker()
      const stores = await openFileStore({ root })
      const memory = createMemoryManager({ stores, clock: time.clock, redact: 'allow' })
      await memory.write('episodic', 'login', { user: 'ada', password: 'hunter2hunter2' }, { text })
      time.advance(100 * day)
      await memory.cleanup()
      const path = 'memory/cold/episodic/login.json.gz'
      expect(scrubFiles(defaultFileSystem, stores, redactText, true)).toEqual([
        { path, counts: { password: 1 } },
      ])
      expect(gunzipSync(readFileSync(join(root, path))).toString()).not.toContain('hunter2')
      const all = { includeArchived: true }
      expect(await memory.search('episodic', { text: text ? 'door' : 'ada' }, all)).toMatchObject([
        { value: { user: 'ada', password: '[redacted:password]' } },
      ])
      await memory.close()
    },
  )

  it('stay encrypted when they are scrubbed, as notes do: a ciphertext looks like a key', async () => {
    const root = temporaryRoot()
    const time = createTicker()
    const stores = await openFileStore({ root })
    const encryptionKey = new Uint8Array(32).fill(1)
    const memory = createMemoryManager({ stores, clock: time.clock, redact: 'allow', encryptionKey })
    const options = { encrypt: true, tags: ['password: hunter2hunter2'] }
    await memory.write('episodic', 'old', 'private', options)
    time.advance(100 * day)
    await memory.cleanup()
    await memory.write('long-term', 'new', 'private', options)
    const counts = { password: 1 }
    expect(scrubFiles(defaultFileSystem, stores, redactText, true)).toEqual([
      { path: 'memory/long-term/new.md', counts },
      { path: 'memory/cold/episodic/old.json.gz', counts },
    ])
    expect(await memory.restore('episodic', 'old')).toBe(true)
    for (const [scope, key] of [
      ['episodic', 'old'],
      ['long-term', 'new'],
    ] as const) {
      const record = await memory.read(scope, key, { includeMetadata: true })
      expect(record).toMatchObject({
        value: 'private',
        metadata: { tags: ['password: [redacted:password]'] },
      })
    }
    await memory.close()
  })

  it('are also notes whose key is like that of a conversation', async () => {
    const { time, memory } = await open()
    await memory.write('episodic', 'conversation:mine', { note: 'no archive of a session' })
    time.advance(100 * day)
    expect(await memory.cleanup()).toMatchObject({ archived: 1, errors: [] })
    expect(await memory.restore('episodic', 'conversation:mine')).toBe(true)
    expect(await memory.read('episodic', 'conversation:mine')).toEqual({ note: 'no archive of a session' })
    await memory.close()
  })

  it('are sealed anew with the others', async () => {
    const root = temporaryRoot()
    const time = createTicker()
    const stores = await openFileStore({ root })
    const keys = { a: new Uint8Array(32).fill(1), b: new Uint8Array(32).fill(2) }
    const memory = createMemoryManager({ stores, clock: time.clock, encryptionKey: { current: 'a', keys } })
    onTestFinished(() => memory.close())
    await memory.write('episodic', 'old', 'private', { encrypt: true })
    await memory.write('long-term', 'new', 'private', { encrypt: true, tags: ['t'], ttl: day * 200 })
    time.advance(100 * day)
    await memory.cleanup()
    const before = await memory.search('long-term', {}, { touch: false })
    const result = await rotateEncryption({
      stores,
      encryptionKey: { current: 'b', keys },
      clock: time.clock,
    })
    expect(result).toEqual({ rotated: 2, errors: [] })
    const later = createMemoryManager({
      stores,
      clock: time.clock,
      encryptionKey: { current: 'b', keys: { b: keys.b } },
    })
    expect(await later.search('long-term', {}, { touch: false })).toEqual(before)
    const found = await later.search('episodic', {}, { includeArchived: true })
    expect(found.map(({ value }) => value)).toEqual(['private'])
    await later.close()
  })
})

it('an entry that was brought back while its copy could not be removed is there once, at the next try', async () => {
  const root = temporaryRoot()
  let isFailing = true
  const unlinkSync: FileSystem['unlinkSync'] = (path) => {
    if (isFailing && String(path).endsWith('key.json.gz'))
      throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
    defaultFileSystem.unlinkSync(path)
  }
  const time = createTicker()
  const stores = await openFileStore({ root, fileSystem: { ...defaultFileSystem, unlinkSync } })
  const memory = createMemoryManager({ stores, clock: time.clock })
  await memory.write('episodic', 'key', 'kept')
  time.advance(100 * day)
  await memory.cleanup()
  await expect(memory.restore('episodic', 'key')).rejects.toMatchObject({ code: 'MEMORY_WRITE_FAILED' })
  isFailing = false
  expect(await memory.restore('episodic', 'key')).toBe(true)
  expect(await memory.read('episodic', 'key')).toBe('kept')
  expect(readdirSync(join(root, 'memory/cold/episodic'))).toEqual([])
  await memory.close()
})

it('a cached value is not answered once another process, or a person, has written its file', async () => {
  const { root, stores } = await open()
  const memory = createMemoryManager({ stores, cache: createMemoryCache() })
  const other = (await open(root)).memory
  await memory.write('long-term', 'key', 'first')
  expect(await memory.read('long-term', 'key')).toBe('first')
  await other.write('long-term', 'key', 'other')
  expect(await memory.read('long-term', 'key')).toBe('other')
  const path = join(root, 'memory/long-term/key.md')
  writeFileSync(path, readFileSync(path, 'utf8').replace('other', 'by hand'))
  expect(await memory.read('long-term', 'key')).toBe('by hand')
  rmSync(path)
  expect(await memory.read('long-term', 'key')).toBeNull()
  await memory.close()
  await other.close()
})
