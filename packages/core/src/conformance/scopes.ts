import { expect } from 'vitest'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import { everyCall, keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const scopes: Theme = {
  title: 'Scopes and namespaces',
  laws: [
    law('The same key holds one value in each scope.', async ({ memory }) => {
      for (const scope of memoryScopes) await memory.write(scope, 'key', `in ${scope}`)
      for (const scope of memoryScopes) expect(await memory.read(scope, 'key')).toBe(`in ${scope}`)
    }),

    law('A search sees only its own scope.', async ({ memory }) => {
      for (const scope of memoryScopes)
        await memory.write(scope, `key of ${scope}`, 'a blue door', { tags: ['t'] })
      for (const scope of memoryScopes) {
        for (const query of [{}, { text: 'blue' }, { tags: ['t'] }]) {
          expect(await keysFound(memory, scope, query)).toEqual([`key of ${scope}`])
        }
      }
    }),

    law('Deleting and clearing in one scope leaves the other scopes as they were.', async ({ memory }) => {
      for (const scope of memoryScopes) {
        await memory.batchWrite(scope, [
          { key: 'a', value: 1 },
          { key: 'b', value: 2 },
        ])
      }
      await memory.delete('working', 'a')
      await memory.clear('long-term')
      expect(await keysFound(memory, 'working', {})).toEqual(['b'])
      expect(await keysFound(memory, 'long-term', {})).toEqual([])
      for (const scope of ['short-term', 'episodic'] as const) {
        expect((await keysFound(memory, scope, {})).sort()).toEqual(['a', 'b'])
      }
    }),

    law('No call sees the entries of another namespace.', async ({ memory, reopen }) => {
      const other = await reopen({ namespace: 'somebody-else' })
      await memory.write('long-term', 'secret plan', 'a blue door', { tags: ['t'] })
      expect(await other.read('long-term', 'secret plan')).toBeNull()
      expect(await other.exists('long-term', 'secret plan')).toBe(false)
      expect(await other.batchRead('long-term', ['secret plan'])).toEqual(new Map())
      for (const query of [{}, { text: 'blue' }, { tags: ['t'] }, { filters: { key: 'secret plan' } }]) {
        expect(await keysFound(other, 'long-term', query)).toEqual([])
      }
    }),

    law('Nothing that is done in one namespace changes another.', async ({ memory, reopen, time }) => {
      const other = await reopen({ namespace: 'somebody-else' })
      await memory.write('short-term', 'key', 'mine')
      await memory.write('long-term', 'key', 'mine')
      await other.write('long-term', 'key', 'theirs', { overwrite: false })
      await other.delete('long-term', 'key')
      await other.clear('long-term')
      time.advance(2 * 60 * 60 * 1000)
      expect((await other.cleanup()).deleted).toBe(0)
      expect(await memory.read('long-term', 'key')).toBe('mine')
      expect((await memory.cleanup()).deleted).toBe(1)
    }),

    law('A memory says whose it is and what each scope can do.', async ({ memory, reopen }) => {
      expect(memory.namespace).toBe('default')
      expect((await reopen({ namespace: 'ada' })).namespace).toBe('ada')
      for (const scope of memoryScopes) {
        expect(memory.capabilities[scope]).toMatchObject({
          durable: expect.any(Boolean),
          semantic: expect.any(Boolean),
        })
      }
    }),

    law('Metadata name the scope and the namespace of the entry.', async ({ memory, reopen }) => {
      const other = await reopen({ namespace: 'ada' })
      for (const scope of memoryScopes) {
        await other.write(scope, 'key', 1)
        const record = await other.read(scope, 'key', { includeMetadata: true })
        expect(record?.metadata).toMatchObject({ key: 'key', scope, namespace: 'ada' })
      }
      expect(await keysFound(memory, 'working', {})).toEqual([])
    }),

    law('A scope that does not exist is refused by every call.', async ({ memory }) => {
      for (const scope of ['long_term', '', '*', 'toString', undefined, null]) {
        const calls = everyCall(memory, scope as MemoryScope, 'key')
        for (const [name, call] of Object.entries(calls)) {
          // Only a clean-up may leave the scope out: it then covers all scopes.
          if (name === 'cleanup' && scope === undefined) continue
          await refused('INVALID_INPUT', call)
        }
      }
    }),
  ],
}
