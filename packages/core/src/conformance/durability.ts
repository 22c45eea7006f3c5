import { expect } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const isDurable = (memory: MemoryManager): boolean => memory.capabilities['long-term'].durable

export const durability: Theme = {
  title: 'Durability',
  laws: [
    law(
      'A durable memory keeps its entries when all handles are closed; any other memory is empty then.',
      async ({ memory, reopen }) => {
        await memory.write('long-term', 'key', { text: 'blue' })
        await memory.close()
        const later = await reopen()
        expect(await later.read('long-term', 'key')).toEqual(isDurable(memory) ? { text: 'blue' } : null)
        expect(await keysFound(later, 'long-term', { text: 'blue' })).toEqual(
          isDurable(memory) ? ['key'] : [],
        )
      },
    ),

    law('Metadata outlive the handle as the value does.', async ({ memory, reopen, time }) => {
      await memory.write('long-term', 'key', 1, { tags: ['b', 'a'], type: 'note', ttl: 60_000 })
      time.advance(1000)
      const before = await memory.read('long-term', 'key', { includeMetadata: true })
      await memory.close()
      const later = await reopen()
      const [after] = await later.search('long-term', {}, { touch: false })
      expect(after?.metadata).toEqual(isDurable(memory) ? before?.metadata : undefined)
    }),

    law('An entry expires on time although nobody had the memory open.', async ({ memory, reopen, time }) => {
      await memory.write('long-term', 'short', 1, { ttl: 1000 })
      await memory.write('long-term', 'long', 1, { ttl: 5000 })
      await memory.close()
      time.advance(1000)
      const later = await reopen()
      expect(await keysFound(later, 'long-term', {})).toEqual(isDurable(memory) ? ['long'] : [])
    }),

    law('What was deleted or cleared stays so.', async ({ memory, reopen }) => {
      for (const key of ['deleted', 'cleared', 'kept'])
        await memory.write('long-term', key, 'blue', { tags: [key] })
      await memory.delete('long-term', 'deleted')
      await memory.clear('long-term', { tags: ['cleared'] })
      await memory.close()
      const later = await reopen()
      for (const query of [{}, { text: 'blue' }]) {
        expect(await keysFound(later, 'long-term', query)).toEqual(isDurable(memory) ? ['kept'] : [])
      }
    }),

    law(
      'What differs between scopes and namespaces still differs after reopening.',
      async ({ memory, reopen }) => {
        const other = await reopen({ namespace: 'other' })
        await memory.write('long-term', 'key', 'mine')
        await memory.write('episodic', 'key', 'mine, episodic')
        await other.write('long-term', 'key', 'theirs')
        await memory.close()
        await other.close()
        const mine = await reopen()
        const theirs = await reopen({ namespace: 'other' })
        const read = [
          await mine.read('long-term', 'key'),
          await mine.read('episodic', 'key'),
          await theirs.read('long-term', 'key'),
        ]
        expect(read).toEqual(isDurable(memory) ? ['mine', 'mine, episodic', 'theirs'] : [null, null, null])
      },
    ),
  ],
}
