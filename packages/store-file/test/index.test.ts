import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  createMemoryManager,
  type Entry,
  type MemoryManager,
  memoryScopes,
} from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { loadSqlite } from '../src/sqlite/driver.ts'
import { seededRandom } from './random.ts'
import { archiveOf } from './storm-values.ts'
import { temporaryRoot } from './temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

const corruptions = Number(process.env.RECALL_TEST_CORRUPTIONS ?? 30)
const words = ['harbour', 'lighthouse', 'cable', 'anchor', 'tide', 'gull', 'rope', 'mast']

async function fill(root: string, entries: number): Promise<void> {
  const memory = await openFileMemory({ root, redact: 'allow' })
  for (let i = 0; i < entries; i++) {
    const text = words.filter((_, w) => (i >> w) % 2 === 0).join(' ')
    await memory.write('long-term', `note ${i}`, `${text} number${i}`, {
      tags: [`tag${i % 5}`],
      type: 'note',
    })
  }
  await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
  await memory.write('long-term', 'MEMORY.md#harbour', 'The harbour has a lighthouse.')
  await memory.search('long-term', { text: 'harbour' })
  await memory.close()
}

const queries = [
  {},
  { tags: ['tag1'] },
  { filters: { type: 'note' } },
  ...words.map((text) => ({ text })),
  { text: 'rope mast number7' },
]

/** The answers to a set of searches, a line each. */
async function answers(memory: MemoryManager): Promise<string> {
  const lines: string[] = []
  for (const scope of memoryScopes) {
    for (const query of queries) {
      const matches = await memory.search(scope, query, { limit: 1000, touch: false })
      const seen = matches.map(({ key, value, score, passage }) => [
        key,
        value,
        score.toFixed(4),
        passage?.line,
      ])
      lines.push(JSON.stringify(seen))
    }
  }
  return lines.join('\n')
}

/**
 * The same without scores, and without the order that follows from them: FTS5 goes on counting deleted rows in
 * its averages, so that a word's weight depends a little on what was there before.
 */
async function matchesOf(memory: MemoryManager): Promise<string> {
  const lines: string[] = []
  for (const scope of memoryScopes) {
    for (const query of queries) {
      const matches = await memory.search(scope, query, { limit: 1000, touch: false })
      const seen = matches.map(({ key, value, passage }) => JSON.stringify([key, value, passage?.line]))
      lines.push(('text' in query ? seen.sort() : seen).join(' '))
    }
  }
  return lines.join('\n')
}

const internal = (root: string): string => join(root, 'memory/.recall')
const setAsideIn = (root: string): string[] =>
  readdirSync(internal(root)).filter((name) => name.includes('.corrupt-'))

function damage(path: string, random: () => number): string {
  const bytes = readFileSync(path)
  const at = Math.floor(random() * bytes.length)
  const kind = Math.floor(random() * 5)
  if (kind === 0) truncateSync(path, at)
  else {
    if (kind === 1) bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random() * 8))
    if (kind === 2)
      for (let i = 0; i < 32; i++) bytes[(at + i * 97) % bytes.length] = Math.floor(random() * 256)
    // The last page may be cut off: it may be damaged a second time.
    if (kind === 3) bytes.fill(0, at - (at % 4096), Math.min(bytes.length, at - (at % 4096) + 4096))
    if (kind === 4) bytes.copy(bytes, at - (at % 4096), 4096, 8192)
    writeFileSync(path, bytes)
  }
  return ['truncated', 'bit flipped', 'bytes scattered', 'page zeroed', 'page copied'][kind] as string
}

it('scores what was written over many times nearly as what was written once', async () => {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root, redact: 'allow' })
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 30; i++) {
      await memory.write('long-term', `note ${i}`, `${words[i % 8]} ${words[(i + round) % 5]} number${i}`)
      await memory.write('short-term', `other ${round} ${i}`, 'harbour')
    }
    await memory.search('long-term', { text: 'harbour' })
  }
  const scores = async (from: MemoryManager): Promise<Map<string, number>> => {
    const found = new Map<string, number>()
    for (const text of [...words, 'rope mast number7', 'cable tide']) {
      for (const { key, score } of await from.search('long-term', { text }, { limit: 100 }))
        found.set(`${text}: ${key}`, score)
    }
    return found
  }
  const lived = await scores(memory)
  await memory.close()
  rmSync(internal(root), { recursive: true })
  const fresh = await openFileMemory({ root, redact: 'allow' })
  const anew = await scores(fresh)
  expect([...lived.keys()].sort()).toEqual([...anew.keys()].sort())
  for (const [match, score] of lived) expect(Math.abs(score - (anew.get(match) ?? -1))).toBeLessThan(0.02)
  await fresh.close()
})

it('is no surer of an entry that holds some of the words than of one before it that holds them all', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  const others = Array.from({ length: 20 }, (_, i) => `word${i}`).join(' ')
  await memory.write('long-term', 'both', `harbour cable ${others}`)
  for (let i = 0; i < 12; i++) {
    await memory.write('long-term', `cable ${i}`, 'cable '.repeat(6))
    await memory.write('long-term', `harbour ${i}`, `harbour ${others}`)
  }
  for (let i = 0; i < 30; i++) await memory.write('long-term', `neither ${i}`, 'lighthouse')
  const found = await memory.search('long-term', { text: 'harbour cable' }, { limit: 30 })
  const told = found.map(({ confidence }) => confidence ?? -1)
  expect(found[0]?.key).toBe('both')
  expect(told).toEqual(told.toSorted((a, b) => b - a))
  await memory.close()
})

describe('a damaged index', () => {
  it(`never changes an answer: ${corruptions} random damages`, async () => {
    const place = temporaryRoot()
    const full = join(place, 'full')
    mkdirSync(full)
    await fill(full, 120)
    const random = seededRandom(11)
    for (let i = 0; i < corruptions; i++) {
      const root = join(place, `damaged-${i}`)
      cpSync(full, root, { recursive: true, preserveTimestamps: true })
      // Seals the copy, which has other times and inodes than the original.
      const sealing = await openFileMemory({ root })
      const expected = await answers(sealing)
      await sealing.close()
      const what = damage(join(internal(root), 'index.db'), random)
      const notices: string[] = []
      const memory = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
      expect(await answers(memory), `${what}, damage ${i}`).toBe(expected)
      expect(notices.length, what).toBeLessThanOrEqual(1)
      await memory.close()
      const again = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
      expect(await answers(again)).toBe(expected)
      expect(notices.length, `${what}, second opening`).toBeLessThanOrEqual(1)
      await again.close()
      rmSync(root, { recursive: true })
    }
  })

  it('is set aside and announced once when it is no database at all', async () => {
    const root = temporaryRoot()
    await fill(root, 5)
    writeFileSync(join(internal(root), 'index.db'), 'this is no database')
    const notices: string[] = []
    const memory = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
    expect(await memory.search('long-term', { text: 'number3' })).toHaveLength(1)
    expect(await memory.search('long-term', { text: 'number4' })).toHaveLength(1)
    await memory.close()
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('built anew')
    expect(setAsideIn(root)).toHaveLength(1)
  })

  it('is set aside until the next full rebuild, so that nobody finds there what was forgotten', async () => {
    const root = temporaryRoot()
    await fill(root, 5)
    writeFileSync(join(internal(root), 'index.db'), 'this is no database')
    const store = await openFileStore({ root })
    store.index.fresh()
    expect(setAsideIn(root)).toHaveLength(1)
    store.reindex({ full: true })
    expect(setAsideIn(root)).toEqual([])
    await store.close()
  })

  it('is set aside once: of earlier ones none is kept', async () => {
    const root = temporaryRoot()
    await fill(root, 5)
    for (const text of ['no database', 'no database again']) {
      writeFileSync(join(internal(root), 'index.db'), text)
      const memory = await openFileMemory({ root })
      expect(await memory.search('long-term', { text: 'number3' })).toHaveLength(1)
      await memory.close()
      expect(setAsideIn(root).map((name) => readFileSync(join(internal(root), name), 'utf8'))).toEqual([text])
    }
  })

  it('is removed when it came with a copy of the memory: it is whole, and the copy has other files', async () => {
    const full = temporaryRoot()
    await fill(full, 5)
    const root = temporaryRoot()
    cpSync(full, root, { recursive: true })
    const notices: string[] = []
    const memory = await openFileMemory({ root, onNotice: (text) => notices.push(text) })
    expect(await memory.search('long-term', { text: 'number3' })).toHaveLength(1)
    await memory.close()
    expect(notices).toEqual([
      'the search index was changed by something else than this memory: it is built anew',
    ])
    expect(setAsideIn(root)).toEqual([])
  })
})

describe('an index that is deleted while it is open', () => {
  it.each([
    ['index.db'],
    ['index.db-wal'],
    ['index.db-shm'],
    ['index.db', 'index.db-wal', 'index.db-shm'],
    ['.'],
  ])('changes no answer: %s %s %s', async (...names) => {
    const root = temporaryRoot()
    await fill(root, 20)
    const memory = await openFileMemory({ root })
    const expected = await answers(memory)
    for (const name of names) rmSync(join(internal(root), name), { recursive: true, force: true })
    expect(await answers(memory)).toBe(expected)
    await memory.write('long-term', 'later', 'written after the deletion')
    expect(await memory.search('long-term', { text: 'deletion' })).toHaveLength(1)
    await memory.close()
    const again = await openFileMemory({ root })
    expect(await again.search('long-term', { text: 'deletion' })).toHaveLength(1)
    expect(await again.search('long-term', { text: 'number7' })).toHaveLength(1)
    await again.close()
  })
})

type Action =
  | 'write'
  | 'edit'
  | 'section'
  | 'add'
  | 'remove by hand'
  | 'rename'
  | 'delete'
  | 'search'
  | 'abandon'
  | 'corrupt'
  | 'delete the index'

/** Courses that went wrong once: each with the seed of its damage. */
const courses: readonly (readonly [seed: number, ...Action[]])[] = [
  [-1532881200, 'write', 'corrupt', 'write', 'section', 'abandon', 'search', 'corrupt', 'rename'],
  [-573441753, 'write', 'abandon', 'corrupt', 'edit', 'section', 'section', 'corrupt', 'search', 'write'],
  [1826896635, 'write', 'abandon', 'edit', 'section', 'corrupt', 'write'],
  [443701702, 'section', 'abandon', 'add', 'rename', 'edit', 'write', 'write', 'edit', 'corrupt', 'add'],
]

/** Leaves every page as SQLite expects it, so that nothing but a rebuild may tell. */
const mayPassUnnoticed = (damage: string): boolean => ['bit flipped', 'bytes scattered'].includes(damage)

describe('whatever happens to the files', () => {
  const others = fc.constantFrom<Action>(
    'section',
    'add',
    'remove by hand',
    'rename',
    'delete',
    'search',
    'abandon',
    'corrupt',
    'delete the index',
  )
  const action = fc.record({
    what: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Action>('write') },
      { weight: 2, arbitrary: fc.constant<Action>('edit') },
      { weight: 9, arbitrary: others },
    ),
    key: fc.nat(5).map((i) => `k${i}`),
    text: fc.nat(40).map((i) => `${words[i % 8]} ${words[(i >> 1) % 8]} version${i}`),
  })
  const examples = courses.map(
    ([seed, ...course]): [{ what: Action; key: string; text: string }[], number] => [
      course.map((what) => ({ what, key: 'k0', text: 'harbour harbour version0' })),
      seed,
    ],
  )

  it('a search answers like one on an index that is built from the files', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 1, maxLength: 25 }),
        fc.integer(),
        async (actions, seed) => {
          const root = temporaryRoot()
          const random = seededRandom(seed)
          let memory = await openFileMemory({ root, redact: 'allow' })
          let isHeldOpen = false
          let isDoubtful = false
          const folder = join(root, 'memory/long-term')
          const names = (): string[] => {
            mkdirSync(folder, { recursive: true })
            return readdirSync(folder).filter((name) => name.endsWith('.md'))
          }
          for (const { what, key: name, text: content } of actions) {
            const some = names()[Math.floor(random() * names().length)]
            if (what === 'write') await memory.write('long-term', name, content)
            else if (what === 'section') await memory.write('long-term', `MEMORY.md#${name}`, content)
            else if (what === 'delete') await memory.delete('long-term', name)
            else if (what === 'search') await memory.search('long-term', { text: content })
            else if (what === 'add') writeFileSync(join(folder, `${content}.md`), content)
            else if (what === 'edit' && some) writeFileSync(join(folder, some), content)
            else if (what === 'remove by hand' && some) rmSync(join(folder, some))
            else if (what === 'rename' && some)
              renameSync(join(folder, some), join(folder, `Renamed ${content}.md`))
            else if (what === 'delete the index') {
              rmSync(internal(root), { recursive: true, force: true })
              isDoubtful = false
            } else if (what === 'abandon') {
              memory = await openFileMemory({ root, redact: 'allow' })
              isHeldOpen = true
            } else if (what === 'corrupt') {
              await memory.close()
              const path = join(internal(root), 'index.db')
              // While others hold it open it changes, so that its seal proves nothing.
              if (existsSync(path) && mayPassUnnoticed(damage(path, random))) isDoubtful ||= isHeldOpen
              memory = await openFileMemory({ root, redact: 'allow' })
            }
          }
          const lived = await matchesOf(memory)
          await memory.close()
          if (isDoubtful) return
          rmSync(internal(root), { recursive: true, force: true })
          const fresh = await openFileMemory({ root, redact: 'allow' })
          expect(lived).toBe(await matchesOf(fresh))
          await fresh.close()
        },
      ),
      { numRuns: Number(process.env.RECALL_TEST_RUNS ?? 60), examples },
    )
  })
})

it('follows hand edits on a file system whose file numbers are no safe integers, as those of NTFS are', async () => {
  const root = temporaryRoot()
  const large = (call: (...parameters: never[]) => { ino: number } | undefined) =>
    ((...parameters: never[]) => {
      const stats = call(...parameters)
      if (stats) stats.ino += 2 ** 54
      return stats
    }) as never
  const { lstatSync, fstatSync } = defaultFileSystem
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    lstatSync: large(lstatSync as never),
    fstatSync: large(fstatSync as never),
  }
  for (const text of ['the harbour', 'the lighthouse']) {
    const memory = await openFileMemory({ root, fileSystem })
    await memory.write('long-term', 'kept', 'a rope')
    writeFileSync(join(root, 'memory/long-term/noted.md'), text)
    const found = await memory.search('long-term', { text })
    expect(found.map(({ key }) => key)).toEqual(['noted'])
    await memory.close()
  }
})

it('finds a file that the listing of its folder passed over, as when it is replaced meanwhile', async () => {
  const root = temporaryRoot()
  await fill(root, 3)
  const passOver = new Set<string>()
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    opendirSync(path) {
      const folder = defaultFileSystem.opendirSync(path)
      const read = folder.readSync.bind(folder)
      folder.readSync = () => {
        let entry = read()
        while (entry && passOver.has(entry.name)) entry = read()
        return entry
      }
      return folder
    },
  }
  const memory = await openFileMemory({ root, fileSystem })
  const before = await matchesOf(memory)
  passOver.add(readdirSync(join(root, 'memory/long-term'))[0] as string)
  writeFileSync(join(root, 'memory/long-term/noted.md'), 'a buoy')
  expect(await memory.search('long-term', { text: 'buoy' })).toHaveLength(1)
  rmSync(join(root, 'memory/long-term/noted.md'))
  expect(await matchesOf(memory)).toBe(before)
  await memory.close()
})

it('takes no namespace for missing that another process made while every file was looked at', async () => {
  const root = temporaryRoot()
  await fill(root, 3)
  const other = await openFileStore({ root })
  const theirs = createMemoryManager({ stores: other, namespace: 'other' })
  let meanwhile: (() => void) | undefined
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    opendirSync(path) {
      meanwhile?.()
      return defaultFileSystem.opendirSync(path)
    },
  }
  const store = await openFileStore({ root, fileSystem })
  store.index.update()
  const written: Promise<void>[] = []
  meanwhile = () => {
    meanwhile = undefined
    written.push(other.put(entryOf('other'), { overwrite: true, now: 0 }))
    other.index.flush()
  }
  store.index.update()
  await Promise.all(written)
  expect(await theirs.read('long-term', 'note')).toBe('a buoy')
  await store.close()
  await theirs.close()
})

const entryOf = (namespace: string): Entry => ({
  ...{ scope: 'long-term', namespace, key: 'note', value: 'a buoy', text: 'a buoy', type: null, tags: [] },
  ...{ createdAt: 0, updatedAt: 0, accessedAt: 0, accessCount: 0, ttl: null, expiresAt: null },
  encrypted: false,
  embedding: null,
})

describe('an index that another process has open, on Windows', () => {
  const refuse = (path: unknown): void => {
    if (/index\.db(?:-wal|-shm)?$/.test(String(path)))
      throw Object.assign(new Error(`EBUSY: resource busy or locked, ${path}`), { code: 'EBUSY' })
  }
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    unlinkSync(path) {
      refuse(path)
      defaultFileSystem.unlinkSync(path)
    },
    renameSync(from, to) {
      refuse(from)
      defaultFileSystem.renameSync(from, to)
    },
  }
  const indexOf = (root: string): string => join(internal(root), 'index.db')
  const bytesOf = (root: string): Buffer =>
    Buffer.concat(
      [indexOf(root), `${indexOf(root)}-wal`].filter(existsSync).map((path) => readFileSync(path)),
    )

  it('is built anew in its place, without a word of what is gone', async () => {
    const root = temporaryRoot()
    await fill(root, 20)
    const other = await openFileMemory({ root, redact: 'allow' })
    const before = await answers(other)
    const note = join(root, 'memory/long-term/noted.md')
    writeFileSync(note, Array.from({ length: 5000 }, (_, i) => `bathyscaphe${i}`).join(' '))
    expect(await other.search('long-term', { text: 'bathyscaphe7' })).toHaveLength(1)
    expect(bytesOf(root).includes('bathyscaphe')).toBe(true)
    rmSync(note)
    const store = await openFileStore({ root, fileSystem })
    store.reindex({ full: true })
    await store.close()
    expect(await answers(other)).toBe(before)
    await other.close()
    expect(bytesOf(root).includes('bathyscaphe')).toBe(false)
  })

  it('is built anew in its place where another version made it', async () => {
    const root = temporaryRoot()
    await fill(root, 20)
    const database = (await loadSqlite())(indexOf(root))
    database.exec('PRAGMA user_version = 1; CREATE TABLE of_old (name TEXT)')
    database.close()
    const notices: string[] = []
    const memory = await openFileMemory({ root, fileSystem, onNotice: (text) => notices.push(text) })
    expect(await memory.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    await memory.close()
    expect(notices).toEqual([expect.stringContaining('made by another version')])
    const again = await openFileMemory({ root, fileSystem, onNotice: (text) => notices.push(text) })
    expect(await again.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    await again.close()
    expect(notices).toHaveLength(1)
  })

  it.each(['is no database', 'breaks while it is open'])('is kept in memory where it %s', async (how) => {
    const root = temporaryRoot()
    await fill(root, 20)
    const notices: string[] = []
    const breakIt = (): void => writeFileSync(indexOf(root), Buffer.alloc(100_000, 'x'))
    if (how === 'is no database') breakIt()
    const memory = await openFileMemory({ root, fileSystem, onNotice: (text) => notices.push(text) })
    if (how !== 'is no database') {
      await memory.search('long-term', { text: 'harbour' }, { touch: false })
      breakIt()
      await memory.write('long-term', 'later', 'a gull')
    }
    expect(await memory.search('long-term', { text: 'harbour' }, { touch: false })).not.toEqual([])
    expect(notices.join()).toContain('kept in memory')
    await memory.close()
  })
})
