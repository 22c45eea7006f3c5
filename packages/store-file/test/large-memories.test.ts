import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Embedder, parseFilter } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import { createFileStore } from '../src/file-store.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { layouts } from '../src/layout/layout.ts'
import { loadSqlite, type OpenDatabase } from '../src/sqlite/driver.ts'
import { temporaryRoot } from './support/temporary-root.ts'

/**
 * A memory that counts the rows its databases return, how often they rank units by words, and the files it opens, the
 * documents among them, and syncs.
 */
async function openCounted(root: string, embedder?: Embedder) {
  const sqlite = await loadSqlite()
  const counts = { rows: 0, rankings: 0, opened: 0, documents: 0, synced: 0 }
  const openDatabase: OpenDatabase = (path) => {
    const database = sqlite(path)
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          get(...values) {
            counts.rows++
            return statement.get(...values)
          },
          all(...values) {
            if (sql.includes('bm25(')) counts.rankings++
            const rows = statement.all(...values)
            counts.rows += rows.length
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
    openSync(...given) {
      counts.opened++
      if (String(given[0]).endsWith('.md')) counts.documents++
      return defaultFileSystem.openSync(...given)
    },
    fsyncSync(descriptor) {
      counts.synced++
      defaultFileSystem.fsyncSync(descriptor)
    },
  }
  const store = createFileStore({
    root,
    layout: layouts.entity,
    fileSystem,
    openDatabase,
    onNotice: () => {},
    embedder,
  })
  onTestFinished(() => store.close())
  return { store, counts }
}

/** One file of so many sections, none of which has a vector yet. */
function openSections(sections: number) {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory'))
  const text = Array.from({ length: sections }, (_, i) => `## Section ${i}\n\nText ${i}.\n\n`).join('')
  writeFileSync(join(root, 'memory/MEMORY.md'), text)
  return openCounted(root, {
    model: 'constant',
    dimensions: 2,
    embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
  })
}

it('looks at the folders of many namespaces in time that grows with their number', async () => {
  const rowsRead = async (namespaces: number): Promise<number> => {
    const root = temporaryRoot()
    for (let i = 0; i < namespaces; i++) {
      const folder = join(root, `memory/namespaces/team-${i}/long-term`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'note.md'), 'text')
    }
    const { store, counts } = await openCounted(root)
    const place = { namespace: 'team-0', scope: 'long-term' } as const
    await store.stats(place)
    counts.rows = 0
    expect((await store.stats(place)).entries).toBe(1)
    return counts.rows
  }
  expect((await rowsRead(60)) / (await rowsRead(30))).toBeLessThan(2.5)
})

it('reads a file once for all of its sections, whether they are found or embedded', async () => {
  const sections = 300
  const { store, counts } = await openSections(sections)
  const query = {
    namespace: 'default',
    scope: 'long-term',
    sortBy: 'recency',
    sortOrder: 'asc',
    now: 0,
  } as const
  await store.stats(query)
  counts.opened = 0
  const found = await store.find({ ...query, minScore: 0, limit: sections, offset: 0 })
  expect(found).toHaveLength(sections)
  expect(found.map(({ entry }) => entry.value)).toContain('Text 7.')
  expect(await store.vectors?.catchUp()).toMatchObject({ done: sections, total: sections })
  expect(counts.opened).toBeLessThan(sections / 3)
})

it('reads a file once for all of its sections that a search waits for', async () => {
  const { store, counts } = await openSections(100)
  await store.stats({ namespace: 'default', scope: 'long-term' })
  counts.documents = 0
  expect(await store.embedRecent(0)).toBe(36)
  expect(counts.documents).toBeLessThan(8)
})

it('finds every memory that has a word, also beside one that says it in hundreds of passages', async () => {
  const root = temporaryRoot()
  const folder = join(root, 'memory/long-term')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'a-log.md'), 'the pool leaks, '.repeat(40_000))
  for (const name of ['b', 'c', 'd'])
    writeFileSync(join(folder, `${name}.md`), `Of all that was said that day, the pool comes last (${name}).`)
  const { store } = await openCounted(root)
  for (const limit of [1, 10, 1000]) {
    const found = await store.find({
      scope: 'long-term',
      namespace: 'default',
      text: 'pool',
      limit,
      offset: 0,
      sortBy: 'relevance',
      sortOrder: 'desc',
      minScore: 0,
      now: Date.now(),
    })
    expect(found).toHaveLength(Math.min(limit, 4))
  }
})

it('ranks the turns of sessions once, although it looks at more of them than of notes', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  const turns = Array.from(
    { length: 12 },
    (_, i) => `### User\n\nTurn ${i}${i % 3 === 0 ? ' on pools' : ''}.\n\n`,
  )
  for (let i = 100; i < 130; i++)
    writeFileSync(join(root, `memory/conversations/conversation-${i}.md`), turns.join(''))
  const { store, counts } = await openCounted(root)
  const query = { scope: 'episodic', namespace: 'default', text: 'pool', limit: 10, offset: 0 } as const
  const found = await store.find({ ...query, sortBy: 'relevance', sortOrder: 'desc', minScore: 0, now: 0 })
  expect(found).toHaveLength(10)
  expect(counts.rankings).toBe(1)
})

it('asks for a word that thousands of turns hold session by session, not turn by turn', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory/conversations'), { recursive: true })
  const archive = (number: number, turns: readonly string[]): void =>
    writeFileSync(
      join(root, `memory/conversations/conversation-${number}.md`),
      turns.map((turn) => `### User\n\n${turn}.\n\n`).join(''),
    )
  archive(101, Array(4100).fill('The harbour'))
  archive(102, ['A zeppelin', 'Who', 'Where', 'When', 'The harbour'])
  archive(103, ['A zeppelin', 'Who', 'Where', 'When', 'The station'])
  const { store } = await openCounted(root)
  const query = {
    scope: 'episodic',
    namespace: 'default',
    text: 'zeppelin harbour',
    limit: 3,
    offset: 0,
  } as const
  const [both, ...others] = await store.find({
    ...query,
    sortBy: 'relevance',
    sortOrder: 'desc',
    minScore: 0,
    now: 0,
  })
  expect(both?.entry.key).toBe('conversation:conversation-102')
  expect(both?.signals.surroundings).toBeCloseTo(both?.signals.document as number, 9)
  for (const { signals } of others) expect(signals.document).toBeLessThan(both?.signals.document as number)
})

it.each(['relevance', 'recency'] as const)(
  'reads but few of the entries that a filter rules out, best by %s',
  async (sortBy) => {
    const root = temporaryRoot()
    const folder = join(root, 'memory/long-term')
    mkdirSync(folder, { recursive: true })
    for (let i = 0; i < 2000; i++) {
      const tags = i === 1234 ? 'tags: [rare]' : 'tags: [often]'
      writeFileSync(join(folder, `note-${i}.md`), `---\n${tags}\n---\nThe pool, note ${i}.`)
    }
    const { store, counts } = await openCounted(root)
    const place = { scope: 'long-term', namespace: 'default' } as const
    await store.stats(place)
    counts.rows = 0
    counts.rankings = 0
    const filter = parseFilter({ tags: { $contains: 'rare' } })
    const page = { limit: 10, offset: 0, sortBy, sortOrder: 'desc', minScore: 0, now: 0 } as const
    const found = await store.find({ ...place, ...page, text: 'the pool', filter })
    expect(found.map(({ entry }) => entry.key)).toEqual(['note-1234'])
    expect(counts.rows).toBeLessThan(1000)
    expect(counts.rankings).toBeLessThan(5)
  },
)

it('reads no old conversation to find what it can archive', async () => {
  const root = temporaryRoot()
  for (const folder of ['conversations', 'episodic'])
    mkdirSync(join(root, 'memory', folder), { recursive: true })
  for (let i = 100; i < 130; i++)
    writeFileSync(join(root, `memory/conversations/conversation-${i}.md`), '### User\n\nA pool.\n')
  writeFileSync(join(root, 'memory/episodic/note.md'), 'The pool')
  const { store, counts } = await openCounted(root)
  const place = { scope: 'episodic', namespace: 'default' } as const
  expect(await store.stats(place)).toMatchObject({ entries: 31 })
  const before = Date.now() + 60_000
  for (const dryRun of [true, false]) {
    counts.documents = 0
    const run = await store.cold?.archive({ ...place, before, now: before, dryRun })
    expect(run).toEqual({ archived: 1, errors: [] })
    expect(counts.documents).toBeLessThan(10)
  }
  expect(await store.stats(place)).toMatchObject({ entries: 30 })
})

it('removes expired entries together, not each with a sync of its own', async () => {
  const root = temporaryRoot()
  const folder = join(root, 'memory/short-term')
  mkdirSync(folder, { recursive: true })
  for (let i = 0; i < 50; i++)
    writeFileSync(
      join(folder, `note-${i}.md`),
      '---\nttl: 1000\nexpires: 2026-01-01T00:00:00.000Z\n---\n\npool\n',
    )
  const { store, counts } = await openCounted(root)
  const place = { scope: 'short-term', namespace: 'default' } as const
  await store.stats(place)
  counts.synced = 0
  expect(await store.sweep({ ...place, now: Date.UTC(2026, 1), dryRun: false })).toBe(50)
  expect(readdirSync(folder)).toEqual([])
  expect(counts.synced).toBeLessThan(5)
})
