import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type Entry } from '@recall/core'
import { thisProcess } from '@recall/core/process'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { damage } from './support/damage-file.ts'
import { fill, internal, matchesOf, words } from './support/index-answers.ts'
import { isPosix } from './support/platform.ts'
import { seededRandom } from './support/random.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

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
  [11, 'edit', 'section', 'section', 'abandon', 'corrupt', 'edit', 'abandon', 'corrupt', 'section'],
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

  it.runIf(isPosix)('a search answers like one on an index that is built from the files', async () => {
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

it('leaves what is unfinished to its journal, and else removes it', async () => {
  const root = temporaryRoot()
  await fill(root, 1)
  const unfinished = join(root, 'memory/long-term', `.tmp-999999999-${thisProcess().place}00`)
  const journal = join(internal(root), 'journal.json')
  writeFileSync(unfinished, 'a buoy')
  writeFileSync(journal, '{}')
  const store = await openFileStore({ root })
  store.index.update()
  expect(existsSync(unfinished)).toBe(true)
  rmSync(journal)
  store.index.update()
  expect(existsSync(unfinished)).toBe(false)
  await store.close()
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
