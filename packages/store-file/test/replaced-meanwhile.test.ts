import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager, type Embedder, type MemoryManager } from '@recall/core'
import { createConceptEmbedder } from '@recall/core/conformance'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { createFileStore, type FileStore } from '../src/file-store.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { layouts } from '../src/layout/layout.ts'
import { loadSqlite, type OpenDatabase } from '../src/sqlite/driver.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const openPlain = await loadSqlite()

/** What another process does at a moment of a search, once. */
interface Interruption {
  when(step: string): boolean
  what(): void
}

/** A memory that tells of the statements it makes and the files it opens, and another one on the same files. */
function twoHandles(embedder?: Embedder) {
  const root = temporaryRoot()
  const notices: string[] = []
  let interruption: Interruption | undefined
  const after = (step: string): void => {
    if (!interruption?.when(step)) return
    const { what } = interruption
    interruption = undefined
    what()
  }
  const openDatabase: OpenDatabase = (path) => {
    const database = openPlain(path)
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          get: (...values) => statement.get(...values),
          all(...values) {
            const rows = statement.all(...values)
            after(sql)
            return rows
          },
          iterate: (...values) => statement.iterate(...values),
        }
      },
      function: (name, call) => database.function(name, call),
      close: () => database.close(),
    }
  }
  const fileSystem: FileSystem = {
    ...defaultFileSystem,
    openSync(path, ...given) {
      after(String(path))
      return defaultFileSystem.openSync(path, ...given)
    },
  }
  const settings = { root, layout: layouts.entity, onNotice: (text: string) => notices.push(text), embedder }
  const watched = createFileStore({ ...settings, fileSystem, openDatabase })
  const other = createFileStore({ ...settings, fileSystem: defaultFileSystem, openDatabase: openPlain })
  const managerOf = (stores: FileStore): MemoryManager =>
    createMemoryManager({ stores, ...(embedder ? { embedder } : {}) })
  return {
    root,
    notices,
    store: watched,
    memory: managerOf(watched),
    other,
    otherMemory: managerOf(other),
    interrupt(given: Interruption) {
      interruption = given
    },
    wasInterrupted: () => interruption === undefined,
  }
}

describe('while a search is under way', () => {
  let handles: ReturnType<typeof twoHandles>
  const found = async (text: string): Promise<unknown[]> =>
    (await handles.memory.search('long-term', { text }, { touch: false })).map(({ value }) => value)

  beforeEach(async () => {
    handles = twoHandles(createConceptEmbedder())
    const { memory } = handles
    const puppies = Array.from({ length: 100 }, (_, i) => ({ key: `b${i}`, value: `A puppy, day ${i}` }))
    await memory.batchWrite('long-term', puppies)
    await handles.store.vectors?.catchUp()
    await memory.write('long-term', 'a', 'The automobile would not start')
    await handles.store.vectors?.catchUp()
  })
  afterEach(async () => {
    await handles.memory.close()
    await handles.otherMemory.close()
  })

  it('an entry may be taken out of the index', async () => {
    const { root, other, interrupt, wasInterrupted } = handles
    interrupt({
      when: (step) => step.includes('bm25('),
      what() {
        rmSync(join(root, 'memory/long-term/a.md'))
        other.index.update()
      },
    })
    expect(await found('automobile')).toEqual([])
    expect(wasInterrupted()).toBe(true)
    expect(await found('puppy')).toHaveLength(10)
  })

  it('the index may be built anew', async () => {
    const { other, interrupt, wasInterrupted } = handles
    // The index is told which texts have vectors, file by file.
    other.reindex({ full: true })
    interrupt({ when: (step) => step.endsWith('.md'), what: () => other.reindex({ full: true }) })
    expect(await found('vehicle')).toEqual(['The automobile would not start'])
    expect(wasInterrupted()).toBe(true)
    expect(await found('vehicle')).toEqual(['The automobile would not start'])
  })

  it.each([
    ...[1, 2].map((time) => ({ file: 'vectors.f32', time })),
    ...[1, 2, 3, 4, 5].map((time) => ({ file: 'vectors.i8', time })),
  ])('the vectors may be made anew ($file is opened, time $time)', async ({ file, time }) => {
    const { root, notices, store, other, otherMemory, interrupt } = handles
    const names = readdirSync(join(root, 'memory/long-term'))
    for (const name of names) if (name.startsWith('b1')) rmSync(join(root, 'memory/long-term', name))
    await otherMemory.write('long-term', 'c', 'A physician')
    await other.vectors?.catchUp()
    let times = 0
    interrupt({
      when: (step) => step.endsWith(file) && ++times === time,
      what: () => other.reindex({ full: true }),
    })
    expect(await found('vehicle')).toEqual(['The automobile would not start'])
    expect(await found('doctor')).toEqual(['A physician'])
    expect(times).toBeGreaterThanOrEqual(time)
    expect(notices).toEqual([])
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 91, total: 91 })
  })

  it('other processes may fill an index that was made anew, and none overrides what the others know', async () => {
    const { other, store, interrupt, wasInterrupted } = handles
    other.reindex({ full: true })
    interrupt({ when: (step) => step.endsWith('.md'), what: () => void other.vectors?.coverage() })
    expect(store.vectors?.coverage()).toMatchObject({ embedded: 101, total: 101 })
    expect(wasInterrupted()).toBe(true)
    expect(await found('vehicle')).toEqual(['The automobile would not start'])
  })
})

it('an index that others write to passes for intact', async () => {
  const { memory, store, otherMemory, other } = twoHandles()
  for (let round = 0; round < 20; round++) {
    const notes = Array.from({ length: 20 }, (_, i) => ({ key: `n${i}`, value: `A lamp, ${round} ${i}` }))
    await otherMemory.batchWrite('long-term', notes)
    other.index.update()
    expect(await memory.search('long-term', { text: 'lamp' })).toHaveLength(10)
    await otherMemory.write('long-term', 'n1', `A lamp, again ${round}`)
    other.index.update()
    expect(store.index.damage()).toBe(null)
  }
  await memory.close()
  await otherMemory.close()
})

it('a file that is written while the doctor looks at it is not what was indexed, once', async () => {
  const { root, memory, store, interrupt, wasInterrupted, otherMemory } = twoHandles()
  await memory.write('long-term', 'a', 'A lamp')
  interrupt({
    when: (step) => step.includes('AS hash'),
    what: () => writeFileSync(join(root, 'memory/long-term/a.md'), 'Another lamp'),
  })
  expect(checkUp(defaultFileSystem, store, { deep: true, fix: false }).filter(({ ok }) => !ok)).toEqual([])
  expect(wasInterrupted()).toBe(true)
  await memory.close()
  await otherMemory.close()
})

it('an index that another process empties in its place is built anew', async () => {
  const { root, memory, otherMemory } = twoHandles()
  await memory.write('long-term', 'a', 'A lamp')
  expect(await memory.search('long-term', { text: 'lamp' })).toHaveLength(1)
  const database = openPlain(join(root, 'memory/.recall/index.db'))
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE %TABLE%' AND name NOT LIKE 'words%'")
    .all() as { name: string }[]
  for (const { name } of tables) database.exec(`DROP TABLE ${name}`)
  for (const scope of [0, 1, 2, 3]) database.exec(`DROP TABLE words${scope}`)
  database.exec('PRAGMA user_version = 0')
  database.close()
  expect(await memory.search('long-term', { text: 'lamp' })).toHaveLength(1)
  await memory.close()
  await otherMemory.close()
})
