import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { layouts } from '../layout/layout.ts'
import type { Database } from '../sqlite/driver.ts'
import { schema } from './schema.ts'
import { createSearchIndex } from './search-index.ts'

function openIndex() {
  const database: Database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  database.exec(schema)
  const index = createSearchIndex(database, layouts.entity)
  const stamp = { size: 0, modified: 0, changed: 0, inode: 0 }
  const times = { created: 0, updated: 0, ttl: null, expires: null }
  const put = (text: string): void =>
    index.transaction(() => {
      const place = { scope: 'long-term', namespace: 'default', key: 'note', line: 1 } as const
      const entry = { ...place, ...times, type: null, tags: [], value: text, text, fields: null }
      const file = { folder: index.folder('memory').id, name: 'note.md', stamp, content: text }
      index.putFile({ ...file, bytes: Buffer.from(text), entries: [entry] })
    })
  return { index, put }
}

it('records no vector of what a document said before it changed', () => {
  const { index, put } = openIndex()
  put('the harbour')
  index.beginVectors('one')
  const [row] = index.newestWithoutVectors(Number.MAX_SAFE_INTEGER, 1, 0)
  if (!row) throw new Error('no document')
  put('the lighthouse')
  expect(index.putVectors('one', [{ row, slots: [0] }])).toBe(true)
  expect(index.countVectors()).toBe(0)
})

it('records no vector beside those of another generation', () => {
  const { index, put } = openIndex()
  put('the harbour')
  index.beginVectors('two')
  const [row] = index.newestWithoutVectors(Number.MAX_SAFE_INTEGER, 1, 0)
  if (!row) throw new Error('no document')
  expect(index.putVectors('one', [{ row, slots: [0] }])).toBe(false)
  expect(index.countVectors()).toBe(0)
  expect(index.putVectors('two', [{ row, slots: [0] }])).toBe(true)
  expect(index.countVectors()).toBe(1)
  // What was begun is gone on with.
  index.beginVectors('two')
  expect(index.countVectors()).toBe(1)
})
