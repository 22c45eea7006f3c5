import { expect, it } from 'vitest'
import type { Entry } from '../memory-store.ts'
import { searchable, searchEntries } from './in-memory-search.ts'

const entry: Entry = {
  namespace: 'default',
  scope: 'working',
  key: 'key',
  value: 'blue door',
  text: 'blue door',
  type: null,
  tags: [],
  createdAt: 0,
  updatedAt: 0,
  accessedAt: 0,
  accessCount: 0,
  ttl: null,
  expiresAt: null,
  encrypted: false,
  embedding: { model: 'model', vector: [1, 0] },
}

const searched = searchable(entry)

it('searches among more entries than a call can have arguments', () => {
  const candidates = Array.from({ length: 200_000 }, () => ({ ...searched }))
  const found = searchEntries(candidates, {
    namespace: 'default',
    scope: 'working',
    text: 'blue',
    embedding: { model: 'model', vector: [1, 0] },
    limit: 10,
    offset: 0,
    sortBy: 'relevance',
    sortOrder: 'desc',
    minScore: 0,
    now: 0,
  })
  expect(found).toHaveLength(candidates.length)
})
