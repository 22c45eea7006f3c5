import { createMemoryManager, type MemoryScope } from '@recall/core'
import { type Query, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines, explained, mostLooks, sessionOf } from './support/engines.ts'

const count = 1500
const places = engines.flatMap(([name, open]) => [
  { name, open, known: 'new since the tables were analyzed', isAnalyzed: true },
  { name, open, known: 'in tables that nobody analyzed', isAnalyzed: false },
])

describe.each(places)('a place that is $known, on $name', ({ open, isAnalyzed }) => {
  let engine: Engine
  const openMemory = () => createMemoryManager({ stores: createPostgresStore(engine.database) })

  beforeAll(async () => {
    engine = await open()
    await emptyTables(engine.database)
    const memory = openMemory()
    const fill = (scope: MemoryScope) =>
      memory.batchWrite(
        scope,
        Array.from({ length: count }, (_, i) => ({
          key: `k${i}`,
          value: `apples and pears ${i}`,
          options: { embedding: [1, i], tags: ['fruit'] },
        })),
      )
    await fill('long-term')
    if (isAnalyzed) await engine.database.execute(sql`analyze entries, units`)
    await fill('working')
  })
  afterAll(() => engine.close())

  it('is listed page by page, reading no vectors of the entries before the page', async () => {
    const { database } = engine
    const statements = vi.spyOn(sessionOf(database), 'prepareQuery')
    const found = await openMemory().search('working', {}, { limit: 10, offset: 1400, touch: false })
    const [list] = statements.mock.calls.map(([each]) => each as Query)
    statements.mockRestore()
    expect(found).toHaveLength(10)
    const readings = (await explained(database, list as Query)).flatMap(
      (line) => /\bon units .*loops=(\d+)/.exec(line)?.[1] ?? [],
    )
    expect(readings).toEqual(['10'])
  })

  it.each([
    ['words', { text: 'apples pears' }],
    ['a vector', { embedding: [1, 0] }],
    ['words, a vector and a tag', { text: 'apples pears', embedding: [1, 0], tags: ['fruit'] }],
  ])('is searched by %s without looking at each unit for each entry', async (_, query) => {
    const { database } = engine
    const statements = vi.spyOn(sessionOf(database), 'prepareQuery')
    const found = await openMemory().search('working', query, { touch: false })
    const queries = statements.mock.calls.map(([each]) => each as Query)
    statements.mockRestore()
    expect(found).toHaveLength(10)
    const joins = queries.filter((each) => each.sql.includes('"units"') && each.sql.includes('"entries"'))
    expect(joins).not.toHaveLength(0)
    for (const join of joins) expect(await mostLooks(database, join)).toBeLessThan((count * count) / 10)
  })
})
