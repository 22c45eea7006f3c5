import { expect } from 'vitest'
import { all, canArchive, day } from './archive.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const archiveSearch: Theme = {
  title: 'Finding what is archived',
  laws: [
    law(
      'What is archived is found only by a search that asks for it, and says so.',
      async ({ memory, time }) => {
        await memory.write('episodic', 'old', { note: 'blue door', n: 1 }, { tags: ['t'], type: 'run' })
        time.advance(100 * day)
        await memory.cleanup()
        await memory.write('episodic', 'new', { note: 'blue door of the house' }, { tags: ['t'] })
        if (!canArchive(memory)) {
          await refused('NOT_SUPPORTED', () => memory.search('episodic', {}, all))
          return
        }
        for (const query of [{ text: 'blue door' }, { tags: ['t'] }, {}]) {
          expect(await keysFound(memory, 'episodic', query)).toEqual(['new'])
          expect((await keysFound(memory, 'episodic', query, all)).sort()).toEqual(['new', 'old'])
        }
        expect(await keysFound(memory, 'episodic', { filters: { n: 1 } }, all)).toEqual(['old'])
        const [old, ...none] = await memory.search('episodic', { filters: { type: 'run' } }, all)
        expect(none).toEqual([])
        expect(old).toMatchObject({ key: 'old', value: { note: 'blue door', n: 1 }, archived: true })
        expect(old?.metadata).toMatchObject({ tags: ['t'], type: 'run', updatedAt: time.clock() - 100 * day })
        expect(await memory.read('episodic', 'old')).toBeNull()
      },
    ),

    law('What is archived is read only by a read that asks for it.', async ({ memory, time }) => {
      const value = { key: 'of its own', note: 'blue door' }
      await memory.write('episodic', 'old', value)
      time.advance(100 * day)
      await memory.cleanup()
      await memory.write('episodic', 'young', 1)
      const asking = { includeMetadata: true, includeArchived: true } as const
      if (!canArchive(memory)) {
        await refused('NOT_SUPPORTED', () => memory.read('episodic', 'old', asking))
        return
      }
      expect(await memory.read('episodic', 'old')).toBeNull()
      expect(await memory.read('episodic', 'old', { includeArchived: true })).toEqual(value)
      for (let i = 0; i < 2; i++) {
        const record = await memory.read('episodic', 'old', asking)
        expect(record).toMatchObject({ value, archived: true, metadata: { key: 'old', accessCount: 0 } })
      }
      expect(await memory.read('episodic', 'young', asking)).not.toHaveProperty('archived')
      expect(await memory.read('episodic', 'absent', asking)).toBeNull()
    }),

    law('Pages over entries and archive together are one list without repeats.', async ({ memory, time }) => {
      for (let i = 0; i < 7; i++) {
        await memory.write('episodic', `old ${i}`, i)
        time.advance(1)
      }
      time.advance(100 * day)
      await memory.cleanup()
      for (let i = 0; i < 4; i++) {
        time.advance(1)
        await memory.write('episodic', `new ${i}`, i)
      }
      if (!canArchive(memory)) return refused('NOT_SUPPORTED', () => memory.search('episodic', {}, all))
      const pages: string[] = []
      for (let offset = 0; offset < 12; offset += 3) {
        pages.push(...(await keysFound(memory, 'episodic', {}, { ...all, offset, limit: 3 })))
      }
      const names = (name: string, count: number): string[] =>
        Array.from({ length: count }, (_, i) => `${name} ${count - 1 - i}`)
      expect(pages).toEqual([...names('new', 4), ...names('old', 7)])
    }),

    law(
      'Found together with the archive, no match is surer than one that scores higher, however few are asked for.',
      async ({ memory, time }) => {
        await memory.write('episodic', 'old', 'the harbour and much else of that day')
        time.advance(100 * day)
        await memory.cleanup()
        for (let i = 0; i < 12; i++) await memory.write('episodic', `new ${i}`, 'the harbour')
        const options = { ...(canArchive(memory) ? all : {}), touch: false }
        const found = await memory.search('episodic', { text: 'harbour' }, { ...options, limit: 20 })
        const told = found.map(({ confidence }) => confidence ?? -1)
        expect(found.at(-1)?.key).toBe('old')
        expect(told).toEqual(told.toSorted((a, b) => b - a))
        const [first] = await memory.search('episodic', { text: 'harbour' }, { ...options, limit: 1 })
        expect(first?.confidence).toBe(told[0])
      },
    ),
  ],
}
