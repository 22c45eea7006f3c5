import { expect } from 'vitest'
import type { MemoryManager, MemoryMetadata } from '../memory-manager.ts'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'

/** The metadata of an entry, without counting as an access. */
async function metadataOf(memory: MemoryManager, key: string): Promise<MemoryMetadata | undefined> {
  const matches = await memory.search('long-term', { filters: { key } }, { touch: false })
  return matches[0]?.metadata
}

export const metadata: Theme = {
  title: 'Metadata',
  laws: [
    law(
      'A new entry was created, updated and last accessed at the time of its write, and never accessed.',
      async ({ memory, time }) => {
        const now = time.clock()
        await memory.write('long-term', 'fact', 'the sky is blue', { tags: ['sky'], type: 'note' })
        time.advance(1000)
        expect(await metadataOf(memory, 'fact')).toEqual({
          key: 'fact',
          scope: 'long-term',
          namespace: 'default',
          type: 'note',
          tags: ['sky'],
          createdAt: now,
          updatedAt: now,
          accessedAt: now,
          accessCount: 0,
          expiresAt: null,
          encrypted: false,
          embeddingModel: null,
          successRate: null,
        })
      },
    ),

    law(
      'Overwriting keeps createdAt and accessCount, moves updatedAt and counts as the last access.',
      async ({ memory, time }) => {
        const born = time.clock()
        await memory.write('long-term', 'fact', 1)
        await memory.read('long-term', 'fact')
        time.advance(5000)
        await memory.write('long-term', 'fact', 2)
        expect(await metadataOf(memory, 'fact')).toMatchObject({
          createdAt: born,
          updatedAt: born + 5000,
          accessedAt: born + 5000,
          accessCount: 1,
        })
        const filters = { key: 'fact', accessedAt: { gte: born + 5000 } }
        expect(await memory.search('long-term', { filters }, { touch: false })).toHaveLength(1)

        // Also when the clock was set back since the last access.
        time.advance(5000)
        await memory.read('long-term', 'fact')
        time.advance(-3000)
        await memory.write('long-term', 'fact', 3)
        const set = { updatedAt: born + 7000, accessedAt: born + 7000, accessCount: 2 }
        expect(await metadataOf(memory, 'fact')).toMatchObject(set)
        const since = { key: 'fact', accessedAt: { gt: born + 7000 } }
        expect(await memory.search('long-term', { filters: since }, { touch: false })).toEqual([])
        time.advance(500)
        await memory.read('long-term', 'fact')
        expect(await metadataOf(memory, 'fact')).toMatchObject({ accessedAt: born + 7500, accessCount: 3 })
      },
    ),

    law('A deleted key that is written again starts anew.', async ({ memory, time }) => {
      await memory.write('long-term', 'used', 1)
      await memory.read('long-term', 'used')
      await memory.write('long-term', 'fact', 1)
      for (const remove of [
        () => memory.delete('long-term', 'fact'),
        () => memory.atomicUpdate('long-term', [{ operation: 'delete', key: 'fact' }]),
      ]) {
        for (let i = 0; i < 2; i++) await memory.read('long-term', 'fact')
        await remove()
        time.advance(5000)
        await memory.write('long-term', 'fact', 2)
        expect(await metadataOf(memory, 'fact')).toMatchObject({ createdAt: time.clock(), accessCount: 0 })
        const mostUsed = { sortBy: 'accessCount', touch: false } as const
        expect(await keysFound(memory, 'long-term', {}, mostUsed)).toEqual(['used', 'fact'])
      }
    }),

    law('Reading counts as an access and leaves updatedAt alone.', async ({ memory, time }) => {
      const born = time.clock()
      await memory.write('long-term', 'fact', 1)
      time.advance(1000)
      await memory.read('long-term', 'fact')
      time.advance(1000)
      const record = await memory.read('long-term', 'fact', { includeMetadata: true })
      const expected = { accessCount: 2, accessedAt: born + 2000, updatedAt: born, createdAt: born }
      expect(record?.metadata).toMatchObject(expected)
      expect(await metadataOf(memory, 'fact')).toMatchObject(expected)
    }),

    law('Reading many at once counts as an access to each that exists.', async ({ memory, time }) => {
      await memory.write('long-term', 'a', 1)
      await memory.write('long-term', 'b', 2)
      time.advance(1000)
      await memory.batchRead('long-term', ['a', 'absent', 'a'])
      expect(await metadataOf(memory, 'a')).toMatchObject({ accessCount: 1, accessedAt: time.clock() })
      expect(await metadataOf(memory, 'b')).toMatchObject({ accessCount: 0 })
    }),

    law(
      'A search counts as an access to the entries that it returns and to no other.',
      async ({ memory, time }) => {
        for (const key of ['a', 'b', 'c']) {
          await memory.write('long-term', key, `blue ${key}`)
          time.advance(1000)
        }
        const [match] = await memory.search('long-term', {}, { limit: 1 })
        expect(match?.metadata).toMatchObject({ key: 'c', accessCount: 1, accessedAt: time.clock() })
        expect((await metadataOf(memory, 'c'))?.accessCount).toBe(1)
        expect((await metadataOf(memory, 'a'))?.accessCount).toBe(0)
      },
    ),

    law('A search that must not touch leaves no trace.', async ({ memory, time }) => {
      await memory.write('long-term', 'fact', 'blue')
      const before = await metadataOf(memory, 'fact')
      time.advance(1000)
      await memory.search('long-term', { text: 'blue' }, { touch: false })
      expect(await metadataOf(memory, 'fact')).toEqual(before)
    }),

    law('Asking whether a key exists does not count as an access.', async ({ memory, time }) => {
      await memory.write('long-term', 'fact', 1)
      time.advance(1000)
      expect(await memory.exists('long-term', 'fact')).toBe(true)
      expect(await metadataOf(memory, 'fact')).toMatchObject({
        accessCount: 0,
        accessedAt: time.clock() - 1000,
      })
    }),

    law(
      "The type is the one given, else the value's own string member type, else null.",
      async ({ memory }) => {
        await memory.write('long-term', 'given', { type: 'own' }, { type: 'given' })
        await memory.write('long-term', 'own', { type: 'own' })
        await memory.write('long-term', 'number', { type: 7 })
        await memory.write('long-term', 'none', 'text')
        expect((await metadataOf(memory, 'given'))?.type).toBe('given')
        expect((await metadataOf(memory, 'own'))?.type).toBe('own')
        expect((await metadataOf(memory, 'number'))?.type).toBeNull()
        expect((await metadataOf(memory, 'none'))?.type).toBeNull()
      },
    ),

    law('Tags keep their order and spelling and stand only once.', async ({ memory }) => {
      const odd = ["it's, [odd]: #1", 'C:\\temp\\', 'say "no"', '{a,b}', 'NULL', 'null']
      const tags = ['web', 'Zebra', 'web', 'größe', 'a b', ...odd]
      await memory.write('long-term', 'tagged', 1, { tags })
      expect((await metadataOf(memory, 'tagged'))?.tags).toEqual([...new Set(tags)])
    }),

    law("The success rate is the value's own numeric member.", async ({ memory }) => {
      await memory.write('long-term', 'pattern', { successRate: 0.75 })
      await memory.write('long-term', 'text', { successRate: 'high' })
      expect((await metadataOf(memory, 'pattern'))?.successRate).toBe(0.75)
      expect((await metadataOf(memory, 'text'))?.successRate).toBeNull()
    }),

    law('Times are whole milliseconds, however finely the clock tells.', async ({ memory, time }) => {
      const born = time.clock()
      time.advance(0.75)
      await memory.write('long-term', 'fact', 1, { ttl: 60_000 })
      expect(await metadataOf(memory, 'fact')).toMatchObject({
        createdAt: born,
        updatedAt: born,
        accessedAt: born,
        expiresAt: born + 60_000,
      })
      time.advance(1.5)
      await memory.read('long-term', 'fact')
      expect(await metadataOf(memory, 'fact')).toMatchObject({ updatedAt: born, accessedAt: born + 2 })
    }),
  ],
}
