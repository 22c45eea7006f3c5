import { expect } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const left = async (memory: MemoryManager): Promise<string> =>
  (await keysFound(memory, 'long-term', {})).sort().join(' ')

export const deletion: Theme = {
  title: 'Deletion',
  laws: [
    law('Deleting a key removes that entry and no other.', async ({ memory }) => {
      for (const key of ['a', 'ab', 'b']) await memory.write('long-term', key, 'blue')
      await memory.delete('long-term', 'a')
      expect(await memory.read('long-term', 'a')).toBeNull()
      expect(await memory.exists('long-term', 'a')).toBe(false)
      expect(await left(memory)).toBe('ab b')
    }),

    law('Deleting an absent key is not an error.', async ({ memory }) => {
      await memory.delete('long-term', 'absent')
      await memory.delete('long-term', 'absent')
      expect(await left(memory)).toBe('')
    }),

    law('Clearing a scope without a filter removes all of its entries.', async ({ memory }) => {
      for (let i = 0; i < 25; i++) await memory.write('long-term', `key ${i}`, i, { tags: [`t${i}`] })
      await memory.clear('long-term')
      expect(await left(memory)).toBe('')
      await memory.clear('long-term')
    }),

    law('clear with olderThan removes what was last written before that time.', async ({ memory, time }) => {
      await memory.write('long-term', 'old', 1)
      await memory.write('long-term', 'refreshed', 1)
      time.advance(1000)
      const cut = time.clock()
      await memory.write('long-term', 'at the cut', 1)
      await memory.write('long-term', 'refreshed', 2)
      await memory.read('long-term', 'old')
      await memory.clear('long-term', { olderThan: cut })
      expect(await left(memory)).toBe('at the cut refreshed')
    }),

    law('clear with tags removes the entries that carry all of them.', async ({ memory }) => {
      await memory.write('long-term', 'a', 1, { tags: ['a'] })
      await memory.write('long-term', 'ab', 1, { tags: ['a', 'b'] })
      await memory.write('long-term', 'none', 1)
      await memory.clear('long-term', { tags: ['b', 'a'] })
      expect(await left(memory)).toBe('a none')
    }),

    law('clear with a type removes the entries of that type.', async ({ memory }) => {
      await memory.write('long-term', 'given', 1, { type: 'note' })
      await memory.write('long-term', 'own', { type: 'note' })
      await memory.write('long-term', 'other', { type: 'notes' })
      await memory.write('long-term', 'none', 1)
      await memory.clear('long-term', { type: 'note' })
      expect(await left(memory)).toBe('none other')
    }),

    law('The parts of a clear filter must all hold.', async ({ memory, time }) => {
      const options = { tags: ['t'], type: 'note' }
      await memory.write('long-term', 'all', 1, options)
      await memory.write('long-term', 'no tag', 1, { type: 'note' })
      await memory.write('long-term', 'no type', 1, { tags: ['t'] })
      time.advance(1000)
      await memory.write('long-term', 'too new', 1, options)
      await memory.clear('long-term', { olderThan: time.clock(), ...options })
      expect(await left(memory)).toBe('no tag no type too new')
    }),
  ],
}
