import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { layouts } from '../layout/layout.ts'
import type { Database } from '../sqlite/driver.ts'
import { schema } from './schema.ts'
import { createSearchIndex } from './search-index.ts'

const conditions = { scope: 'episodic', namespace: 'default', now: 0, tags: [] } as const

it('asks for what every read and write wants to know without going through all documents', () => {
  const database: Database = new DatabaseSync(':memory:')
  database.exec(schema)
  const asked = new Set<string>()
  const asking: Database = {
    exec: (sql) => database.exec(sql),
    function: (name, call) => database.function(name, call),
    close: () => database.close(),
    prepare(sql) {
      asked.add(sql)
      return database.prepare(sql)
    },
  }
  const index = createSearchIndex(asking, layouts.entity)
  index.unreadable()
  index.unread()
  index.lastArchiveNumber()
  index.byKey('episodic', 'default', 'conversation:s1')
  index.expired('episodic', 'default', 0)
  index.needsConditions(conditions)
  index.isEmpty('episodic')
  index.usage('episodic', 'default')
  const plans = [...asked].flatMap((sql) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
    return steps.map(({ detail }) => `${detail}: ${sql}`)
  })
  expect(plans.length).toBeGreaterThanOrEqual(asked.size)
  expect(plans.filter((plan) => !/^SEARCH \w+ USING /.test(plan))).toEqual([])
  database.close()
})

it('reads where the folders lie once, and again after anybody changed the index', () => {
  const path = join(temporaryRoot(), 'index.db')
  const [database, other] = [new DatabaseSync(path), new DatabaseSync(path)]
  database.exec(`PRAGMA journal_mode = WAL; ${schema}`)
  const index = createSearchIndex(database, layouts.entity)
  const another = createSearchIndex(other, layouts.entity)
  const paths = (): string[] => [...index.folderPaths().values()]
  index.folder('memory')
  expect(paths()).toEqual(['memory'])
  expect(index.folderPaths()).toBe(index.folderPaths())
  index.folder('memory/working')
  expect(paths()).toEqual(['memory', 'memory/working'])
  another.folder('memory/episodic')
  expect(paths()).toEqual(['memory', 'memory/working', 'memory/episodic'])
  for (const each of [database, other]) each.close()
})
