import fc from 'fast-check'
import { expect } from 'vitest'
import { matchesFilter } from '../filter/matches-filter.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { keysFound, refused } from './expectations.ts'
import { document, filterOn } from './filter-arbitraries.ts'
import { found, keep, operatorLaws } from './filter-operators.ts'
import { law, type Theme } from './harness.ts'

export const searchFilters: Theme = {
  title: 'Search by filters',
  laws: [
    ...operatorLaws,

    law('A dotted path leads into objects and lists.', async ({ memory }) => {
      await keep(memory, {
        a: { goal: { kind: 'deploy', steps: [{ tool: 'git' }, { tool: 'ssh' }] } },
        b: { goal: { kind: 'test', steps: [{ tool: 'ssh' }] } },
        c: { goal: 'deploy' },
      })
      expect(await found(memory, { 'goal.kind': 'deploy' })).toBe('a')
      expect(await found(memory, { 'goal.steps.0.tool': 'ssh' })).toBe('b')
      expect(await found(memory, { 'goal.steps.1': { exists: true } })).toBe('a')
      expect(await found(memory, { 'goal.length': { exists: true } })).toBe('')
    }),

    law('and, or and not combine conditions, and members of a filter must all hold.', async ({ memory }) => {
      await keep(memory, { a1: { k: 'a', n: 1 }, a2: { k: 'a', n: 2 }, b1: { k: 'b', n: 1 }, none: {} })
      expect(await found(memory, { k: 'a', n: 1 })).toBe('a1')
      expect(await found(memory, { $or: [{ k: 'b' }, { n: 2 }] })).toBe('a2 b1')
      expect(await found(memory, { $and: [{ k: 'a' }, { n: 2 }] })).toBe('a2')
      expect(await found(memory, { $not: { k: 'a' } })).toBe('b1 none')
      expect(await found(memory, { k: { not: { in: ['a'] } } })).toBe('b1 none')
      expect(await found(memory, { or: [], k: 'a' })).toBe('')
      expect(await found(memory, { $and: [] })).toBe('a1 a2 b1 none')
    }),

    law('A path that the value does not have is looked up in the metadata.', async ({ memory, time }) => {
      const start = time.clock()
      await memory.write('episodic', 'plain', 'text', { type: 'note', tags: ['x', 'y'] })
      time.advance(1000)
      await memory.write('episodic', 'own', { type: 'own', tags: 'mine', key: 'k' }, { type: 'note' })
      expect(await found(memory, { type: 'note' })).toBe('plain')
      expect(await found(memory, { type: 'own' })).toBe('own')
      expect(await found(memory, { tags: { contains: 'y' } })).toBe('plain')
      expect(await found(memory, { key: { in: ['plain', 'k'] } })).toBe('own plain')
      expect(await found(memory, { createdAt: { gt: start } })).toBe('own')
      expect(await found(memory, { expiresAt: null, scope: 'episodic' })).toBe('own plain')
    }),

    law('A filter sees the metadata of an entry as they are now.', async ({ memory, time }) => {
      const start = time.clock()
      await keep(memory, { left: 1, read: 1, written: 1 })
      time.advance(1000)
      await memory.read('episodic', 'read')
      await memory.write('episodic', 'written', 2, { type: 'note', ttl: 5000 })
      expect(await found(memory, { accessCount: 1 })).toBe('read')
      expect(await found(memory, { accessedAt: { gt: start } })).toBe('read written')
      expect(await found(memory, { updatedAt: start })).toBe('left read')
      expect(await found(memory, { type: null, expiresAt: null })).toBe('left read')
      time.advance(1000)
      await memory.search('episodic', { filters: { accessCount: 1 } })
      await memory.read('episodic', 'written')
      expect(await found(memory, { accessCount: 1 })).toBe('written')
      expect(await found(memory, { accessCount: { gte: 1 }, accessedAt: start + 2000 })).toBe('read written')
      expect(await found(memory, { expiresAt: { gt: start + 6000 } })).toBe('written')
    }),

    law('A search by tags finds the entries that carry all of them.', async ({ memory }) => {
      await memory.write('long-term', 'ab', 1, { tags: ['a', 'b'] })
      await memory.write('long-term', 'a', 2, { tags: ['a'] })
      await memory.write('long-term', 'abc', 3, { tags: ['c', 'b', 'a'] })
      await memory.write('long-term', 'AB', 4, { tags: ['A', 'B', 'a b', 'ab'] })
      expect((await keysFound(memory, 'long-term', { tags: ['a', 'b'] })).sort()).toEqual(['ab', 'abc'])
      expect(await keysFound(memory, 'long-term', { tags: [] })).toHaveLength(4)
      expect(await keysFound(memory, 'long-term', { tags: ['%'] })).toEqual([])
    }),

    law('Text, tags and filters must all hold.', async ({ memory }) => {
      await memory.write('episodic', 'all', { text: 'blue door', n: 1 }, { tags: ['a', 'b'] })
      await memory.write('episodic', 'no tag', { text: 'blue door', n: 1 }, { tags: ['a'] })
      await memory.write('episodic', 'no number', { text: 'blue door', n: 2 }, { tags: ['a', 'b'] })
      await memory.write('episodic', 'no text', { text: 'green door', n: 1 }, { tags: ['a', 'b'] })
      const text = 'blue'
      const tags = ['b', 'a']
      const filters = { n: 1 }
      expect(await keysFound(memory, 'episodic', { text, tags, filters })).toEqual(['all'])
      expect((await keysFound(memory, 'episodic', { text, tags })).sort()).toEqual(['all', 'no number'])
      expect((await keysFound(memory, 'episodic', { text, filters })).sort()).toEqual(['all', 'no tag'])
      expect((await keysFound(memory, 'episodic', { tags, filters })).sort()).toEqual(['all', 'no text'])
    }),

    law('A filter that is malformed is refused.', async ({ memory }) => {
      const deep = (depth: number): JsonObject => (depth === 0 ? { a: 1 } : { $not: deep(depth - 1) })
      const bad: unknown[] = [
        { v: { $regex: 'x' } },
        { v: { $gte: 1, lessThan: 5 } },
        { $where: 'x' },
        { v: { in: 'a' } },
        { v: { exists: 'yes' } },
        { v: { gt: null } },
        { $or: { a: 1 } },
        { $or: [1] },
        { '': 1 },
        { 'a..b': 1 },
        { [Array(201).fill('a').join('.')]: { exists: false } },
        { v: new Date() },
        { v: Number.NaN },
        deep(30),
        [],
        'x',
      ]
      for (const filters of bad) {
        await refused('INVALID_INPUT', () => memory.search('episodic', { filters: filters as JsonObject }))
      }
    }),

    law('Every filter means what matchesFilter says.', async ({ memory }) => {
      const documents = fc
        .sample(document, { numRuns: 20, seed: 42 })
        .map((value, i) => ({ key: `d${i}`, value }))
      await memory.batchWrite('episodic', documents)
      const entries = await memory.search('episodic', {}, { limit: 100, touch: false })
      await fc.assert(
        fc.asyncProperty(filterOn, async (filters) => {
          const filter = parseFilter(filters)
          const expected = entries.filter(({ value, metadata }) =>
            matchesFilter(filter, { value: value as JsonValue, metadata: { ...metadata } }),
          )
          expect((await keysFound(memory, 'episodic', { filters })).sort()).toEqual(
            expected.map(({ key }) => key).sort(),
          )
        }),
        { numRuns: 100 },
      )
    }),
  ],
}
