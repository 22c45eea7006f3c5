import { expect } from 'vitest'
import { everyCall, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const lifecycle: Theme = {
  title: 'Lifecycle',
  laws: [
    law('A fresh memory is empty.', async ({ memory }) => {
      for (const scope of ['working', 'short-term', 'long-term', 'episodic'] as const) {
        expect(await memory.search(scope, {})).toEqual([])
      }
      expect(await memory.cleanup()).toMatchObject({ deleted: 0, archived: 0, errors: [] })
    }),

    law('After close every call is refused.', async ({ memory }) => {
      await memory.write('long-term', 'key', 1)
      await memory.close()
      for (const call of Object.values(everyCall(memory, 'long-term', 'key'))) await refused('CLOSED', call)
      await refused('CLOSED', () => memory.cleanup())
    }),

    law('Closing again does nothing.', async ({ memory }) => {
      await memory.close()
      await memory.close()
      await refused('CLOSED', () => memory.read('long-term', 'key'))
    }),

    law('Calls under way when a memory is closed are answered first.', async ({ memory }) => {
      await memory.write('long-term', 'key', 'blue')
      const calls = [
        memory.write('long-term', 'other', 1),
        memory.read('long-term', 'key'),
        memory.batchRead('long-term', ['key']),
        memory.search('long-term', { text: 'blue' }),
      ]
      await memory.close()
      const found = [expect.objectContaining({ key: 'key', value: 'blue' })]
      expect(await Promise.all(calls)).toEqual([undefined, 'blue', new Map([['key', 'blue']]), found])
    }),

    law('Disposing of a memory closes it.', async ({ memory }) => {
      await memory[Symbol.asyncDispose]()
      await refused('CLOSED', () => memory.exists('long-term', 'key'))
    }),
  ],
}
