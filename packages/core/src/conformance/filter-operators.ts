import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { keysFound } from './expectations.ts'
import { type Law, law } from './harness.ts'

export async function keep(memory: MemoryManager, documents: Record<string, JsonValue>): Promise<void> {
  const writes = Object.entries(documents).map(([key, value]) => ({ key, value }))
  await memory.batchWrite('episodic', writes)
}

/** The keys that a filter finds, in alphabetical order. */
export const found = async (memory: MemoryManager, filters: JsonObject): Promise<string> =>
  (await keysFound(memory, 'episodic', { filters })).sort().join(' ')

export const operatorLaws: readonly Law[] = [
  law('A plain value asks for equality with any JSON value.', async ({ memory }) => {
    await keep(memory, {
      s: { v: 'x' },
      n: { v: 1 },
      t: { v: true },
      z: { v: null },
      l: { v: [1, 2] },
      o: { v: { a: 1, b: [2] } },
      p: JSON.parse('{"__proto__": 1}'),
      none: {},
    })
    expect(await found(memory, JSON.parse('{"__proto__": 1}'))).toBe('p')
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
    // A lone surrogate compares as its own code point, in a memory that accepts one.
    const isKept = await memory.write('episodic', 'half', { v: '\ud800' }).then(
      () => true,
      () => false,
    )
    const halves = isKept ? 'half' : ''
    expect(await found(memory, { v: { gt: '\ud7ff', lt: '\ue000' } })).toBe(halves)
    expect(await found(memory, { v: { gt: '\ud7ff', lt: '\udc00' } })).toBe(halves)
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
    await keep(memory, {
      mixed: { v: [{ k: 1, l: [2] }, null, 1] },
      listed: { v: [[{ k: 1, l: [2] }], '1'] },
    })
    expect(await found(memory, { v: { overlap: [{ l: [2], k: 1 }] } })).toBe('mixed')
    expect(await found(memory, { v: { overlap: [2, 1.0] } })).toBe('mixed')
    expect(await found(memory, { v: { overlap: [null] } })).toBe('mixed')
    expect(await found(memory, { v: { overlap: [{ k: 1 }, [1], 'x'] } })).toBe('')
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
    })
    expect(await found(memory, { v: { $elemMatch: { k: 'a', n: { gt: 2 } } } })).toBe('one')
    expect(await found(memory, { v: { elemMatch: { gt: 4, lt: 6 } } })).toBe('numbers')
    expect(await found(memory, { v: { elemMatch: [9, 'x'] } })).toBe('numbers')
    expect(await found(memory, { v: { elemMatch: 9 } })).toBe('numbers')
    expect(await found(memory, { v: { elemMatch: '9' } })).toBe('')
  }),
]
