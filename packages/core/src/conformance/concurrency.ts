import { expect } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const times = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

/** Counts the writers that succeed when all write one key with `overwrite: false`. */
async function winners(writers: readonly MemoryManager[]): Promise<number> {
  const outcomes = await Promise.allSettled(
    writers.map((memory, i) => memory.write('long-term', 'once', i, { overwrite: false })),
  )
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

export const concurrency: Theme = {
  title: 'Concurrency',
  laws: [
    law('Writes of fifty keys at once are all kept.', async ({ memory }) => {
      await Promise.all(times(50).map((i) => memory.write('long-term', `key ${i}`, { i })))
      const values = await memory.batchRead(
        'long-term',
        times(50).map((i) => `key ${i}`),
      )
      expect([...values.values()]).toEqual(times(50).map((i) => ({ i })))
      expect(await keysFound(memory, 'long-term', {})).toHaveLength(50)
    }),

    law('Overwrites of one key at once leave one whole value.', async ({ memory }) => {
      const values = times(20).map((i) => ({ i, text: `${i} `.repeat(500) }))
      await Promise.all(values.map((value) => memory.write('long-term', 'key', value)))
      expect(values).toContainEqual(await memory.read('long-term', 'key'))
      expect(await keysFound(memory, 'long-term', {})).toEqual(['key'])
    }),

    law('Of several writers with overwrite false exactly one wins.', async ({ memory }) => {
      expect(await winners(times(10).map(() => memory))).toBe(1)
      await refused('CONFLICT', () => memory.write('long-term', 'once', 'late', { overwrite: false }))
    }),

    law('Reads at once are all counted.', async ({ memory }) => {
      await memory.write('long-term', 'key', 1)
      await Promise.all(times(20).map(() => memory.read('long-term', 'key')))
      const [match] = await memory.search('long-term', {}, { touch: false })
      expect(match?.metadata.accessCount).toBe(20)
    }),

    law('Atomic updates of the same keys do not mix.', async ({ memory }) => {
      const keys = ['a', 'b', 'c']
      await Promise.all(
        times(10).map((i) =>
          memory.atomicUpdate(
            'long-term',
            keys.map((key) => ({ operation: 'set', key, value: i })),
          ),
        ),
      )
      const values = [...(await memory.batchRead('long-term', keys)).values()]
      expect(values).toHaveLength(3)
      expect(new Set(values).size).toBe(1)
    }),

    law('A search during writes gives whole entries.', async ({ memory }) => {
      const writes = times(20).map((i) => memory.write('long-term', `key ${i}`, { text: 'blue door', i }))
      const searches = times(5).map(() => memory.search<{ text: string }>('long-term', { text: 'blue' }))
      const found = (await Promise.all(searches)).flat()
      await Promise.all(writes)
      for (const { value } of found) expect(value.text).toBe('blue door')
      expect(await keysFound(memory, 'long-term', { text: 'blue' })).toHaveLength(20)
    }),

    law(
      'Two handles on the same data see what the other writes, overwrites and deletes.',
      async ({ memory, reopen }) => {
        const other = await reopen()
        await memory.write('long-term', 'key', 'alpha')
        expect(await other.read('long-term', 'key')).toBe('alpha')
        await other.write('long-term', 'key', 'omega')
        expect(await memory.read('long-term', 'key')).toBe('omega')
        expect(await keysFound(memory, 'long-term', { text: 'omega' })).toEqual(['key'])
        expect(await keysFound(memory, 'long-term', { text: 'alpha' })).toEqual([])
        await memory.delete('long-term', 'key')
        expect(await other.exists('long-term', 'key')).toBe(false)
        expect(await keysFound(other, 'long-term', { text: 'omega' })).toEqual([])
      },
    ),

    law(
      'Two handles that write at once lose nothing, and of both only one wins with overwrite false.',
      async ({ memory, reopen }) => {
        const other = await reopen()
        await Promise.all(times(30).map((i) => (i % 2 ? memory : other).write('long-term', `key ${i}`, i)))
        for (const handle of [memory, other])
          expect(await keysFound(handle, 'long-term', {})).toHaveLength(30)
        expect(await winners([memory, other, memory, other])).toBe(1)
      },
    ),
  ],
}
