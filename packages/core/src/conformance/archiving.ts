import { expect } from 'vitest'
import { all, canArchive, day } from './archive.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const archiving: Theme = {
  title: 'The archive',
  laws: [
    law('A clean-up archives episodes last written more than 90 days ago.', async ({ memory, time }) => {
      await memory.write('episodic', 'old', 'blue door')
      await memory.write('long-term', 'rule', 'blue door')
      time.advance(1)
      await memory.write('episodic', 'young', 'blue door')
      time.advance(90 * day)
      expect(await memory.cleanup({ dryRun: true })).toMatchObject({ archived: canArchive(memory) ? 1 : 0 })
      const result = await memory.cleanup()
      expect(result).toMatchObject({ deleted: 0, archived: canArchive(memory) ? 1 : 0, errors: [] })
      expect(await keysFound(memory, 'episodic', {})).toEqual(
        canArchive(memory) ? ['young'] : ['young', 'old'],
      )
      expect(await keysFound(memory, 'long-term', {})).toEqual(['rule'])
      expect(await memory.cleanup()).toMatchObject({ archived: 0 })
    }),

    law(
      'Clean-ups at the same moment archive every episode once and lose none.',
      async ({ memory, time }) => {
        const keys = Array.from({ length: 12 }, (_, i) => `old ${i}`)
        for (const key of keys) await memory.write('episodic', key, key)
        time.advance(100 * day)
        const runs = await Promise.all([memory.cleanup(), memory.cleanup(), memory.cleanup()])
        expect(runs.flatMap(({ errors }) => errors)).toEqual([])
        const total = runs.reduce((sum, { archived }) => sum + archived, 0)
        expect(total).toBe(canArchive(memory) ? keys.length : 0)
        const everywhere = canArchive(memory) ? all : {}
        expect((await keysFound(memory, 'episodic', {}, everywhere)).sort()).toEqual(keys.sort())
      },
    ),

    law(
      'What is written, deleted or restored while a clean-up moves it is as if one came after the other.',
      async ({ memory, time }) => {
        const keys = Array.from({ length: 12 }, (_, i) => `old ${i}`)
        const everywhere = async (): Promise<string[]> =>
          (await keysFound(memory, 'episodic', {}, canArchive(memory) ? all : {})).sort()
        for (const key of keys) await memory.write('episodic', key, 'first')
        time.advance(100 * day)
        const written = keys.map((key) => memory.write('episodic', key, 'second'))
        await Promise.all([...written.slice(0, 6), memory.cleanup(), ...written.slice(6)])
        expect(await everywhere()).toEqual(keys.toSorted())
        for (const key of keys) expect(await memory.read('episodic', key)).toBe('second')
        time.advance(100 * day)
        const deleted = keys.slice(0, 6).map((key) => memory.delete('episodic', key))
        await Promise.all([...deleted.slice(0, 3), memory.cleanup(), ...deleted.slice(3)])
        expect(await everywhere()).toEqual(keys.slice(6).toSorted())
        const restored = keys.slice(6, 9).map((key) => memory.restore('episodic', key))
        await Promise.all([...restored, ...keys.slice(6, 9).map((key) => memory.delete('episodic', key))])
        expect(await everywhere()).toEqual(keys.slice(9).toSorted())
      },
    ),

    law('A clean-up may be told to archive what is older than a time.', async ({ memory, time }) => {
      await memory.write('episodic', 'first', 1)
      time.advance(1000)
      await memory.write('episodic', 'second', 2)
      const result = await memory.cleanup({ scope: 'episodic', archiveBefore: time.clock() })
      expect(result.archived).toBe(canArchive(memory) ? 1 : 0)
      expect(await memory.exists('episodic', 'second')).toBe(true)
    }),

    law(
      'Restoring brings an archived entry back as it was, and the next clean-up leaves it.',
      async ({ memory, time }) => {
        const born = time.clock()
        const value = JSON.parse('{"note": "blue door", "__proto__": {"constructor": [null]}, "": 1e300}')
        await memory.write('episodic', 'old', value, { tags: ['t'], type: 'run' })
        await memory.read('episodic', 'old')
        time.advance(100 * day)
        await memory.cleanup()
        expect(await memory.restore('episodic', 'old')).toBe(canArchive(memory))
        await memory.cleanup({ archiveBefore: born + 1 })
        const record = canArchive(memory)
          ? await memory.read('episodic', 'old', { includeMetadata: true })
          : { value, metadata: { tags: ['t'], type: 'run', createdAt: born } }
        expect(JSON.stringify(record?.value)).toBe(JSON.stringify(value))
        expect(record?.metadata).toMatchObject({ tags: ['t'], type: 'run', createdAt: born })
        expect(await memory.restore('episodic', 'old')).toBe(false)
        expect(await memory.restore('episodic', 'never written')).toBe(false)
        if (!canArchive(memory)) return
        time.advance(100 * day)
        await memory.cleanup()
        await memory.write('episodic', 'old', 'for a moment', { ttl: 1 })
        time.advance(1)
        await memory.restore('episodic', 'old')
        const again = await memory.read('episodic', 'old', { includeMetadata: true })
        expect(again?.metadata).toMatchObject({ createdAt: born, accessCount: 3 })
      },
    ),

    law('An entry that is written again hides what is archived under its key.', async ({ memory, time }) => {
      await memory.write('episodic', 'key', 'first word')
      time.advance(100 * day)
      await memory.cleanup()
      await memory.write('episodic', 'key', 'second word')
      expect(await memory.read('episodic', 'key')).toBe('second word')
      if (!canArchive(memory)) return
      const found = await memory.search('episodic', { text: 'word' }, all)
      expect(found.map(({ value }) => value)).toEqual(['second word'])
      expect(await keysFound(memory, 'episodic', { text: 'first' }, all)).toEqual([])
      await refused('CONFLICT', () => memory.restore('episodic', 'key'))
      const { metadata } = (await memory.read('episodic', 'key', { includeMetadata: true })) ?? {}
      time.advance(100 * day)
      await memory.cleanup()
      expect(await memory.search('episodic', {}, all)).toMatchObject([{ value: 'second word', metadata }])
    }),

    law('Deleting and clearing forget what is archived as well.', async ({ memory, time }) => {
      await memory.write('episodic', 'of before', 'kept')
      time.advance(1)
      const then = time.clock()
      for (const key of ['deleted', 'cleared', 'of a type', 'updated', 'kept'])
        await memory.write('episodic', key, key, { tags: [key, 'all'], type: key })
      time.advance(100 * day)
      await memory.cleanup()
      await memory.delete('episodic', 'deleted')
      await memory.clear('episodic', { tags: ['all', 'cleared'] })
      await memory.clear('episodic', { type: 'of a type' })
      await memory.clear('episodic', { olderThan: then })
      await memory.atomicUpdate('episodic', [{ operation: 'delete', key: 'updated' }])
      const rest = canArchive(memory)
        ? await keysFound(memory, 'episodic', {}, all)
        : await keysFound(memory, 'episodic', {})
      expect(rest).toEqual(['kept'])
      await memory.clear('episodic')
      expect(await memory.restore('episodic', 'kept')).toBe(false)
      expect(await keysFound(memory, 'episodic', {})).toEqual([])
    }),

    law('Archived entries expire as others do.', async ({ memory, time }) => {
      await memory.write('episodic', 'short', 1, { ttl: 120 * day })
      await memory.write('episodic', 'long', 2)
      time.advance(100 * day)
      await memory.cleanup()
      time.advance(20 * day)
      const found = canArchive(memory) ? await keysFound(memory, 'episodic', {}, all) : ['long']
      expect(found).toEqual(['long'])
      for (const dryRun of [true, false]) expect((await memory.cleanup({ dryRun })).deleted).toBe(1)
      expect((await memory.cleanup()).deleted).toBe(0)
      expect(await memory.restore('episodic', 'short')).toBe(false)
    }),

    law('The archive of one namespace is closed to another.', async ({ memory, reopen, time }) => {
      const other = await reopen({ namespace: 'other' })
      await memory.write('episodic', 'key', 'mine')
      await other.write('episodic', 'key', 'theirs')
      time.advance(100 * day)
      await memory.cleanup()
      expect(await other.read('episodic', 'key')).toBe('theirs')
      await other.clear('episodic')
      expect(await memory.restore('episodic', 'key')).toBe(canArchive(memory))
      expect(await memory.read('episodic', 'key')).toBe('mine')
    }),

    law('What an entry hides is restored once that has expired.', async ({ memory, time }) => {
      await memory.write('episodic', 'key', 'first')
      time.advance(100 * day)
      await memory.cleanup()
      await memory.write('episodic', 'key', 'second', { ttl: 1 })
      time.advance(1)
      expect(await memory.restore('episodic', 'key')).toBe(canArchive(memory))
      expect(await memory.read('episodic', 'key')).toBe(canArchive(memory) ? 'first' : null)
    }),

    law(
      'A durable memory keeps its archive when all handles are closed.',
      async ({ memory, reopen, time }) => {
        await memory.write('episodic', 'key', { text: 'blue' })
        time.advance(100 * day)
        await memory.cleanup()
        await memory.close()
        const later = await reopen()
        const isKept = later.capabilities.episodic.durable && canArchive(later)
        expect(await later.restore('episodic', 'key')).toBe(isKept)
        expect(await later.read('episodic', 'key')).toEqual(
          later.capabilities.episodic.durable ? { text: 'blue' } : null,
        )
      },
    ),
  ],
}
