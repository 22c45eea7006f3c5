import { expect, it } from 'vitest'
import { together } from './data-set.ts'

it('makes one memory of several, in which what has the same name stays apart', () => {
  const collection = (id: string) => ({
    id,
    docs: [{ id: 'D1', session: 's1', time: null, text: id }],
    queries: [{ id: 'q', text: 'who?', gold: ['D1'], category: 'all' }],
  })
  const one = { name: 'one', collections: [collection('a'), collection('b')], missingGold: 1 }
  const two = { name: 'two', collections: [collection('a')], missingGold: 2 }
  const { collections, missingGold } = together([one, two])
  expect(missingGold).toBe(3)
  expect(collections).toHaveLength(1)
  expect(collections[0]?.docs.map(({ id, session }) => [id, session])).toEqual([
    ['one/a/D1', 'one/a/s1'],
    ['one/b/D1', 'one/b/s1'],
    ['two/a/D1', 'two/a/s1'],
  ])
  expect(collections[0]?.queries.map(({ gold }) => gold)).toEqual([['one/a/D1'], ['one/b/D1'], ['two/a/D1']])
})
