import { expect } from 'vitest'
import type { ClearFilter, SearchOptions, SearchQuery, WriteOptions } from '../memory-manager.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

class Point {
  x = 1
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { value }
  return value
}

export const badInput: Theme = {
  title: 'Limits and bad input',
  laws: [
    law('A value that JSON cannot hold is refused and nothing is stored.', async ({ memory }) => {
      const cyclic: Record<string, unknown> = {}
      cyclic.self = cyclic
      const values = [
        undefined,
        () => 1,
        Symbol('s'),
        10n,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        new Date(0),
        new Map(),
        new Set([1]),
        new Point(),
        /x/,
        new Uint8Array(2),
        cyclic,
        [undefined],
        { at: new Date(0) },
        { deep: [{ f() {} }] },
      ]
      for (const value of values)
        await refused('INVALID_INPUT', () => memory.write('long-term', 'bad', value))
      expect(await keysFound(memory, 'long-term', {})).toEqual([])
    }),

    law('A value may be nested 100 levels deep and no deeper.', async ({ memory }) => {
      await memory.write('long-term', 'deep', nested(100))
      expect(await memory.read('long-term', 'deep')).toEqual(nested(100))
      await refused('INVALID_INPUT', () => memory.write('long-term', 'deeper', nested(101)))
      await refused('INVALID_INPUT', () => memory.write('long-term', 'deeper', nested(20_000)))
    }),

    law('A ttl that is not above zero, or ends after all dates, is refused.', async ({ memory }) => {
      for (const ttl of [
        0,
        -1,
        Number.NaN,
        Number.NEGATIVE_INFINITY,
        Number.MAX_SAFE_INTEGER,
        '1000' as unknown as number,
      ]) {
        await refused('INVALID_INPUT', () => memory.write('long-term', 'bad', 1, { ttl }))
      }
      expect(await memory.exists('long-term', 'bad')).toBe(false)
    }),

    law('Write options that are wrong or unknown are refused.', async ({ memory }) => {
      const options: unknown[] = [
        { tags: [''] },
        { tags: 'a' },
        { tags: ['a\nb'] },
        { tags: ['x'.repeat(257)] },
        { tags: Array.from({ length: 257 }, (_, i) => `t${i}`) },
        { type: '' },
        { type: 7 },
        { overwrite: 'no' },
        { embedding: [] },
        { embedding: Array(16_001).fill(1) },
        { embedding: [Number.NaN] },
        { ttll: 5 },
        'x',
        null,
        new Map(),
      ]
      for (const wrong of options) {
        await refused('INVALID_INPUT', () => memory.write('long-term', 'bad', 1, wrong as WriteOptions))
      }
      expect(await memory.exists('long-term', 'bad')).toBe(false)
    }),

    law('Search options outside their bounds are refused.', async ({ memory }) => {
      const options: unknown[] = [
        { limit: 0 },
        { limit: 1001 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { offset: -1 },
        { offset: 0.5 },
        { minScore: 1.1 },
        { minScore: -0.1 },
        { minConfidence: 1.1 },
        { minConfidence: -0.1 },
        { minConfidence: Number.NaN },
        { sortBy: 'name' },
        { sortOrder: 'up' },
        { size: 3 },
        null,
        new Map(),
      ]
      for (const wrong of options) {
        await refused('INVALID_INPUT', () => memory.search('long-term', {}, wrong as SearchOptions))
      }
    }),

    law('A query that is wrong or too long is refused.', async ({ memory }) => {
      const queries: unknown[] = [
        'text',
        null,
        undefined,
        { text: 7 },
        { text: 'x'.repeat(10_001) },
        { text: '\ud800' },
        { tags: 'a' },
        { tags: [1] },
        { embedding: [] },
        { embedding: Array(16_001).fill(1) },
        { embedding: ['a'] },
        { embedding: [Number.NaN] },
        { filters: { type: undefined } },
        { words: 'a' },
        new Map(),
      ]
      for (const wrong of queries)
        await refused('INVALID_INPUT', () => memory.search('long-term', wrong as SearchQuery))
      await memory.search('long-term', { text: 'word '.repeat(2000) })
    }),

    law('A clear filter that is wrong removes nothing.', async ({ memory }) => {
      await memory.write('long-term', 'kept', 1)
      const filters: unknown[] = [
        { olderThan: 'yesterday' },
        { olderThan: Number.NaN },
        { tags: 'a' },
        { tags: [] },
        { tags: undefined },
        { tag: 'a' },
        { type: 1 },
        { type: undefined, olderThan: 0 },
        { type: '' },
        'all',
        null,
        new Date(0),
        new Map([['type', 'note']]),
        Promise.resolve({ type: 'note' }),
      ]
      for (const wrong of filters) {
        await refused('INVALID_INPUT', () => memory.clear('long-term', wrong as ClearFilter))
      }
      expect(await memory.exists('long-term', 'kept')).toBe(true)
    }),

    law('A clean-up with wrong options removes nothing.', async ({ memory, time }) => {
      await memory.write('short-term', 'expired', 1, { ttl: 1 })
      time.advance(1)
      for (const wrong of [
        { threshold: -1 },
        { threshold: 1.5 },
        { dryRun: 'yes' },
        { scopes: ['working'] },
        null,
        new Map(),
      ]) {
        await refused('INVALID_INPUT', () => memory.cleanup(wrong as object))
      }
      expect((await memory.cleanup({ dryRun: true })).deleted).toBe(1)
    }),

    law('A refusal does not repeat the value.', async ({ memory }) => {
      const value = { note: 'a very private remark', at: new Date(0) }
      const error: unknown = await memory.write('long-term', 'bad', value).catch((reason: unknown) => reason)
      expect(String((error as Error).message)).not.toContain('private')
    }),
  ],
}
