import { expect } from 'vitest'
import type { AtomicUpdate, WriteOptions } from '../memory-manager.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const batches: Theme = {
  title: 'Batches and atomic updates',
  laws: [
    law('batchRead gives the values of the keys that exist, also a stored null.', async ({ memory }) => {
      await memory.write('long-term', 'a', 1)
      await memory.write('long-term', 'nothing', null)
      const values = await memory.batchRead('long-term', ['a', 'absent', 'nothing', 'a'])
      expect(values).toEqual(
        new Map<string, unknown>([
          ['a', 1],
          ['nothing', null],
        ]),
      )
      expect(await memory.batchRead('long-term', [])).toEqual(new Map())
    }),

    law('batchWrite keeps every value with its own options.', async ({ memory, time }) => {
      await memory.batchWrite('long-term', [
        { key: 'a', value: 'blue', options: { tags: ['t'], type: 'note' } },
        { key: 'b', value: { n: 2 }, options: { ttl: 1000 } },
      ])
      const record = await memory.read('long-term', 'a', { includeMetadata: true })
      expect(record).toMatchObject({
        value: 'blue',
        metadata: { tags: ['t'], type: 'note', expiresAt: null },
      })
      expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual(['a'])
      time.advance(1000)
      expect(await memory.exists('long-term', 'b')).toBe(false)
    }),

    law('A batch with one value that is refused writes none.', async ({ memory }) => {
      const writes = [
        { key: 'a', value: 1 },
        { key: 'b', value: Number.NaN },
      ]
      await refused('INVALID_INPUT', () => memory.batchWrite('long-term', writes))
      await refused('INVALID_INPUT', () =>
        memory.batchWrite('long-term', [
          { key: 'a', value: 1 },
          { key: '', value: 1 },
        ]),
      )
      expect(await keysFound(memory, 'long-term', {})).toEqual([])
    }),

    law('A batch with one conflict writes none.', async ({ memory }) => {
      await memory.write('long-term', 'taken', 'before')
      const writes = ['first', 'taken', 'last'].map((key) => ({
        key,
        value: 'after',
        options: { overwrite: false },
      }))
      await refused('CONFLICT', () => memory.batchWrite('long-term', writes))
      expect(await keysFound(memory, 'long-term', {})).toEqual(['taken'])
      expect(await memory.read('long-term', 'taken')).toBe('before')
    }),

    law('An atomic update sets and deletes together, and searches see both.', async ({ memory }) => {
      await memory.write('long-term', 'old', 'blue')
      await memory.atomicUpdate('long-term', [
        { operation: 'set', key: 'new', value: 'blue', options: { tags: ['t'] } },
        { operation: 'delete', key: 'old' },
        { operation: 'delete', key: 'absent' },
      ])
      expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual(['new'])
      expect(await memory.read('long-term', 'old')).toBeNull()
      expect(await keysFound(memory, 'long-term', { tags: ['t'] })).toEqual(['new'])
    }),

    law('An atomic update that meets a conflict changes nothing.', async ({ memory }) => {
      await memory.write('long-term', 'taken', 'before')
      await memory.write('long-term', 'victim', 'before')
      const updates: AtomicUpdate[] = [
        { operation: 'set', key: 'first', value: 'after' },
        { operation: 'delete', key: 'victim' },
        { operation: 'set', key: 'taken', value: 'after', options: { overwrite: false } },
      ]
      await refused('CONFLICT', () => memory.atomicUpdate('long-term', updates))
      expect((await keysFound(memory, 'long-term', { text: 'before' })).sort()).toEqual(['taken', 'victim'])
      expect(await keysFound(memory, 'long-term', { text: 'after' })).toEqual([])
    }),

    law('An atomic update with one value that is refused changes nothing.', async ({ memory }) => {
      await memory.write('long-term', 'victim', 'before')
      const updates: AtomicUpdate[] = [
        { operation: 'delete', key: 'victim' },
        { operation: 'set', key: 'bad', value: () => 1 },
      ]
      await refused('INVALID_INPUT', () => memory.atomicUpdate('long-term', updates))
      expect(await memory.read('long-term', 'victim')).toBe('before')
    }),

    law('A key that stands twice in one batch is refused.', async ({ memory }) => {
      const twice = [
        { key: 'a', value: 1 },
        { key: 'a', value: 2 },
      ]
      await refused('INVALID_INPUT', () => memory.batchWrite('long-term', twice))
      await refused('INVALID_INPUT', () =>
        memory.atomicUpdate('long-term', [
          { operation: 'set', key: 'a', value: 1 },
          { operation: 'delete', key: 'a' },
        ]),
      )
      expect(await memory.exists('long-term', 'a')).toBe(false)
    }),

    law('An empty batch does nothing, and an update of an unknown kind is refused.', async ({ memory }) => {
      await memory.batchWrite('long-term', [])
      await memory.atomicUpdate('long-term', [])
      const odd = [{ operation: 'append', key: 'a', value: 1 }] as unknown as AtomicUpdate[]
      await refused('INVALID_INPUT', () => memory.atomicUpdate('long-term', odd))
      expect(await keysFound(memory, 'long-term', {})).toEqual([])
    }),

    law('Overwriting in a batch keeps createdAt as a single write does.', async ({ memory, time }) => {
      const born = time.clock()
      await memory.write('long-term', 'a', 1)
      time.advance(1000)
      await memory.batchWrite('long-term', [{ key: 'a', value: 2 }])
      const record = await memory.read('long-term', 'a', { includeMetadata: true })
      expect(record?.metadata).toMatchObject({ createdAt: born, updatedAt: born + 1000 })
    }),

    law(
      'An update that names the version it has seen applies only while that version stands.',
      async ({ memory }) => {
        await memory.write('long-term', 'count', 1)
        const seen = async (): Promise<number> =>
          (await memory.read('long-term', 'count', { includeMetadata: true }))?.metadata.updatedAt ?? 0
        const ifUpdatedAt = await seen()
        const set = { operation: 'set', key: 'count', value: 2, ifUpdatedAt } as const
        await memory.atomicUpdate('long-term', [set])
        await refused('CONFLICT', () =>
          memory.atomicUpdate('long-term', [
            { ...set, value: 3 },
            { operation: 'set', key: 'other', value: 1 },
          ]),
        )
        await refused('CONFLICT', () =>
          memory.atomicUpdate('long-term', [{ operation: 'delete', key: 'count', ifUpdatedAt }]),
        )
        await refused('CONFLICT', () => memory.atomicUpdate('long-term', [{ ...set, key: 'absent' }]))
        expect(await memory.read('long-term', 'count')).toBe(2)
        expect(await keysFound(memory, 'long-term', {})).toEqual(['count'])
        const before = await seen()
        await memory.write('long-term', 'count', 4)
        await refused('CONFLICT', () => memory.atomicUpdate('long-term', [{ ...set, ifUpdatedAt: before }]))
        await refused('CONFLICT', () => memory.atomicUpdate('long-term', [{ ...set, ifUpdatedAt: -1 }]))
        const unseen = { ...set, ifUpdatedAt: undefined as never }
        await refused('INVALID_INPUT', () => memory.atomicUpdate('long-term', [unseen]))
        await memory.batchWrite('long-term', [{ key: 'count', value: 5 }])
        expect(await seen()).toBeGreaterThan(before + 1)
        await memory.atomicUpdate('long-term', [
          { operation: 'delete', key: 'count', ifUpdatedAt: await seen() },
        ])
        expect(await memory.exists('long-term', 'count')).toBe(false)
      },
    ),

    law(
      'Of several updates at once that name the same version exactly one applies.',
      async ({ memory, reopen }) => {
        await memory.write('long-term', 'count', 0)
        const record = await memory.read('long-term', 'count', { includeMetadata: true })
        const ifUpdatedAt = record?.metadata.updatedAt ?? 0
        const handles = [memory, await reopen()]
        const outcomes = await Promise.allSettled(
          Array.from({ length: 8 }, (_, i) =>
            (handles[i % 2] as typeof memory).atomicUpdate('long-term', [
              { operation: 'set', key: 'count', value: i, ifUpdatedAt },
            ]),
          ),
        )
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      },
    ),

    law('A deletion in an atomic update may carry a value, which is ignored.', async ({ memory }) => {
      await memory.write('long-term', 'victim', 'before')
      await memory.atomicUpdate('long-term', [
        { operation: 'delete', key: 'victim', value: 'left over' },
        { operation: 'delete', key: 'absent', value: undefined },
      ])
      expect(await memory.read('long-term', 'victim')).toBeNull()
      expect(await memory.exists('long-term', 'absent')).toBe(false)
    }),

    law(
      'An update that keeps the options changes the value, and only the options that it gives.',
      async ({ memory, time }) => {
        const { semantic } = memory.capabilities['long-term']
        const vector = semantic ? { embedding: [1, 0] } : {}
        const before = { text: 'crawl a site', tags: ['web'], type: 'recipe', ttl: 60_000, ...vector }
        await memory.write('long-term', 'crawl', { type: 'pattern', steps: 1 }, before)
        await memory.write('long-term', 'own', { says: 'an old word' })
        await memory.write('long-term', 'hidden', 'unseen', { index: false })
        const update = async (key: string, value: unknown, options?: WriteOptions): Promise<void> => {
          const record = await memory.read('long-term', key, { includeMetadata: true })
          const ifUpdatedAt = record?.metadata.updatedAt ?? 0
          const set = { operation: 'set', key, value, options, ifUpdatedAt, keepOptions: true } as const
          await memory.atomicUpdate('long-term', [set])
        }
        time.advance(1000)
        await update('crawl', { type: 'pattern', steps: 2 })
        await update('own', { says: 'a new letter' })
        await update('hidden', 'unseen as before')
        expect(await keysFound(memory, 'long-term', { text: 'crawl site' })).toEqual(['crawl'])
        if (semantic) expect(await keysFound(memory, 'long-term', { embedding: [1, 0] })).toEqual(['crawl'])
        expect(await keysFound(memory, 'long-term', { text: 'letter' })).toEqual(['own'])
        expect(await keysFound(memory, 'long-term', { text: 'word' })).toEqual([])
        expect(await keysFound(memory, 'long-term', { text: 'unseen' })).toEqual([])
        const { value, metadata } = (await memory.read('long-term', 'crawl', { includeMetadata: true })) ?? {}
        expect(value).toEqual({ type: 'pattern', steps: 2 })
        const kept = { type: 'recipe', tags: ['web'], expiresAt: time.clock() + 60_000 }
        expect(metadata).toMatchObject(kept)
        time.advance(1000)
        await update('crawl', { type: 'pattern', steps: 3 }, { tags: [], text: 'fetch pages' })
        expect(await keysFound(memory, 'long-term', { text: 'pages' })).toEqual(['crawl'])
        expect(await keysFound(memory, 'long-term', { text: 'crawl site' })).toEqual([])
        const last = await memory.read('long-term', 'crawl', { includeMetadata: true })
        expect(last?.metadata).toMatchObject({ ...kept, tags: [], expiresAt: time.clock() + 60_000 })
        await update('hidden', 'seen at last', { index: true })
        expect(await keysFound(memory, 'long-term', { text: 'last' })).toEqual(['hidden'])
        await update('crawl', { type: 'pattern', steps: 4 }, { index: true })
        expect(await keysFound(memory, 'long-term', { text: 'pages' })).toEqual(['crawl'])
        const unseen = [{ operation: 'set', key: 'own', value: 1, keepOptions: true }] as const
        await refused('INVALID_INPUT', () => memory.atomicUpdate('long-term', unseen))
      },
    ),
  ],
}
