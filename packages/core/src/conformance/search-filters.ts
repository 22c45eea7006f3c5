import fc from 'fast-check'
import { expect } from 'vitest'
import { matchesFilter } from '../filter/matches-filter.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { keysFound, refused } from './expectations.ts'
import { document, filterOn } from './filter-arbitraries.ts'
import { law, type Theme } from './harness.ts'

async function keep(memory: MemoryManager, documents: Record<string, JsonValue>): Promise<void> {
  await memory.batchWrite(
    'episodic',
    Object.entries(documents).map(([key, value]) => ({ key, value })),
  ) // prettier-ignore
}

const found = async (memory: MemoryManager, filters: JsonObject): Promise<string> =>
  (await keysFound(memory, 'episodic', { filters })).sort().join(' ')

export const searchFilters: Theme = {
  title: 'Search by filters',
  laws: [
    law('A plain value asks for equality with any JSON value.', async ({ memory }) => {
      await keep(memory, {
        s: { v: 'x' },
        n: { v: 1 },
        t: { v: true },
        z: { v: null },
        l: { v: [1, 2] },
        o: { v: { a: 1, b: [2] } },
        none: {},
      })
      expect(await found(memory, { v: 'x' })).toBe('s')
      expect(await found(memory, { v: 1 })).toBe('n')
      expect(await found(memory, { v: true })).toBe('t')
      expect(await found(memory, { v: null })).toBe('z')
      expect(await found(memory, { v: [1, 2] })).toBe('l')
      expect(await found(memory, { v: [2, 1] })).toBe('')
      expect(await found(memory, { v: { b: [2], a: 1 } })).toBe('o')
      expect(await found(memory, { v: '1' })).toBe('')
    }),

    law(
      'Numbers compare with numbers and strings with strings, and nothing else compares.',
      async ({ memory }) => {
        await keep(memory, {
          low: { v: 1 },
          high: { v: 2.5 },
          text: { v: '2' },
          later: { v: 'b' },
          flag: { v: true },
          none: {},
        })
        expect(await found(memory, { v: { gt: 1 } })).toBe('high')
        expect(await found(memory, { v: { gte: 1 } })).toBe('high low')
        expect(await found(memory, { v: { lt: 2.5 } })).toBe('low')
        expect(await found(memory, { v: { lte: 2.5, gt: -1 } })).toBe('high low')
        expect(await found(memory, { v: { gt: '2' } })).toBe('later')
        expect(await found(memory, { v: { gte: '2', lt: 'c' } })).toBe('later text')
      },
    ),

    law('Strings compare by code point.', async ({ memory }) => {
      await keep(memory, {
        upper: { v: 'Z' },
        lower: { v: 'a' },
        accent: { v: 'é' },
        fullwidth: { v: '\uff5e' },
        emoji: { v: '😀' },
      })
      expect(await found(memory, { v: { lt: 'a' } })).toBe('upper')
      expect(await found(memory, { v: { gt: 'z' } })).toBe('accent emoji fullwidth')
      expect(await found(memory, { v: { gt: '\uff5e' } })).toBe('emoji')
    }),

    law('ne and nin also hold where the member is absent, in does not.', async ({ memory }) => {
      await keep(memory, { a: { v: 'a' }, b: { v: 'b' }, z: { v: null }, none: {} })
      expect(await found(memory, { v: { ne: 'a' } })).toBe('b none z')
      expect(await found(memory, { v: { nin: ['a', 'b'] } })).toBe('none z')
      expect(await found(memory, { v: { in: ['a', null] } })).toBe('a z')
      expect(await found(memory, { v: { in: [] } })).toBe('')
      expect(await found(memory, { v: { nin: [] } })).toBe('a b none z')
    }),

    law('exists tells a null member from an absent one.', async ({ memory }) => {
      await keep(memory, { z: { v: null }, none: {}, text: 'not an object' })
      expect(await found(memory, { v: { exists: true } })).toBe('z')
      expect(await found(memory, { v: { exists: false } })).toBe('none text')
    }),

    law('contains looks for a part of a string or an element of a list.', async ({ memory }) => {
      await keep(memory, {
        text: { v: 'the 100% blue_door' },
        list: { v: ['blue', 1, { a: 1 }] },
        number: { v: 100 },
      })
      expect(await found(memory, { v: { contains: 'blue' } })).toBe('list text')
      expect(await found(memory, { v: { contains: '100%' } })).toBe('text')
      expect(await found(memory, { v: { contains: 'blue-door' } })).toBe('')
      expect(await found(memory, { v: { contains: 'Blue' } })).toBe('')
      expect(await found(memory, { v: { contains: 1 } })).toBe('list')
      expect(await found(memory, { v: { contains: { a: 1 } } })).toBe('list')
    }),

    law('overlap asks for lists that share an element.', async ({ memory }) => {
      await keep(memory, { ab: { v: ['a', 'b'] }, bc: { v: ['b', 'c'] }, empty: { v: [] }, text: { v: 'a' } })
      expect(await found(memory, { v: { overlap: ['a', 'x'] } })).toBe('ab')
      expect(await found(memory, { v: { $overlap: ['b'] } })).toBe('ab bc')
      expect(await found(memory, { v: { overlap: [] } })).toBe('')
    }),

    law('elemMatch asks for one element that meets all conditions.', async ({ memory }) => {
      await keep(memory, {
        one: {
          v: [
            { k: 'a', n: 5 },
            { k: 'b', n: 1 },
          ],
        },
        split: {
          v: [
            { k: 'a', n: 1 },
            { k: 'b', n: 5 },
          ],
        },
        numbers: { v: [1, 5, 9] },
        object: { v: { k: 'a', n: 5 } },
      }) // prettier-ignore
      expect(await found(memory, { v: { $elemMatch: { k: 'a', n: { gt: 2 } } } })).toBe('one')
      expect(await found(memory, { v: { elemMatch: { gt: 4, lt: 6 } } })).toBe('numbers')
      expect(await found(memory, { v: { elemMatch: [9, 'x'] } })).toBe('numbers')
    }),

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

    law('Text, tags and filters must all hold.', async ({ memory }) => {
      await memory.write('episodic', 'all', { text: 'blue door', n: 1 }, { tags: ['a', 'b'] })
      await memory.write('episodic', 'no tag', { text: 'blue door', n: 1 }, { tags: ['a'] })
      await memory.write('episodic', 'no number', { text: 'blue door', n: 2 }, { tags: ['a', 'b'] })
      await memory.write('episodic', 'no text', { text: 'green door', n: 1 }, { tags: ['a', 'b'] })
      const query = { text: 'blue', tags: ['b', 'a'], filters: { n: 1 } }
      expect(await keysFound(memory, 'episodic', query)).toEqual(['all'])
    }),

    law('A filter that is malformed is refused.', async ({ memory }) => {
      const deep = (depth: number): JsonObject => (depth === 0 ? { a: 1 } : { $not: deep(depth - 1) })
      const bad: unknown[] = [
        { v: { $regex: 'x' } },
        { $where: 'x' },
        { v: { in: 'a' } },
        { v: { exists: 'yes' } },
        { v: { gt: null } },
        { $or: { a: 1 } },
        { $or: [1] },
        { '': 1 },
        { 'a..b': 1 },
        { v: new Date() },
        { v: Number.NaN },
        deep(30),
        [],
        'x',
      ] // prettier-ignore
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
