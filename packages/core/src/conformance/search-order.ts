import { expect } from 'vitest'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'
import { fillShelf, scoresOf } from './shelf.ts'
import { writeConversation } from './write-conversation.ts'

const sorts = ['relevance', 'recency', 'accessCount'] as const

export const searchOrder: Theme = {
  title: 'Order and paging',
  laws: [
    law('A search returns ten matches unless told otherwise.', async (fixture) => {
      await fillShelf(fixture)
      expect(await fixture.memory.search('long-term', {})).toHaveLength(10)
      expect(await fixture.memory.search('long-term', {}, { limit: 11 })).toHaveLength(11)
      expect(await fixture.memory.search('long-term', {}, { limit: 1000 })).toHaveLength(12)
    }),

    law('Pages put together are the whole list, in its order and without repeats.', async (fixture) => {
      await fillShelf(fixture)
      for (const query of [{}, { text: 'harbour' }]) {
        for (const sortBy of sorts) {
          for (const sortOrder of ['asc', 'desc'] as const) {
            const whole = await keysFound(fixture.memory, 'long-term', query, { sortBy, sortOrder })
            const pages: string[] = []
            for (let offset = 0; offset < 15; offset += 5) {
              pages.push(
                ...(await keysFound(fixture.memory, 'long-term', query, {
                  sortBy,
                  sortOrder,
                  limit: 5,
                  offset,
                })),
              )
            }
            expect(whole).toHaveLength(12)
            expect(pages, `${sortBy} ${sortOrder}`).toEqual(whole)
          }
        }
      }
      const { memory } = fixture
      for (let i = 0; i < 24; i++) await writeConversation(memory, `talk ${i}`, turnsAbout(i))
      const search = async (limit: number, offset = 0): Promise<string[]> =>
        keysFound(memory, 'episodic', { text: 'harbour rope' }, { limit, offset, touch: false })
      const whole = await search(100)
      expect(whole).toHaveLength(24)
      const pages: string[] = []
      for (let offset = 0; offset < 24; offset += 8) pages.push(...(await search(8, offset)))
      expect(pages).toEqual(whole)
    }),

    law('The same search gives the same order every time.', async (fixture) => {
      await fillShelf(fixture)
      for (const sortBy of sorts) {
        const first = await keysFound(fixture.memory, 'long-term', { text: 'harbour' }, { sortBy })
        expect(await keysFound(fixture.memory, 'long-term', { text: 'harbour' }, { sortBy })).toEqual(first)
      }
      const tied = ['A tie', 'b tie', 'c tie']
      for (const key of [...tied].reverse()) await fixture.memory.write('episodic', key, 'the same words')
      for (const query of [{}, { text: 'words' }]) {
        for (const sortBy of sorts) {
          for (const sortOrder of ['asc', 'desc'] as const) {
            const found = await keysFound(fixture.memory, 'episodic', query, { sortBy, sortOrder })
            expect(found, `${sortBy} ${sortOrder}`).toEqual(tied)
          }
        }
      }
    }),

    law('An offset beyond the end finds nothing.', async (fixture) => {
      await fillShelf(fixture)
      expect(await keysFound(fixture.memory, 'long-term', {}, { offset: 12 })).toEqual([])
      expect(await keysFound(fixture.memory, 'long-term', { text: 'harbour' }, { offset: 500 })).toEqual([])
    }),

    law(
      'Scores lie between 0 and 1 and fall along the list by relevance, or rise when ascending.',
      async (fixture) => {
        await fillShelf(fixture)
        const falling = await scoresOf(fixture.memory, {})
        expect(falling).toHaveLength(12)
        for (const score of falling) expect(score).toBeGreaterThan(0)
        for (const score of falling) expect(score).toBeLessThanOrEqual(1)
        expect(falling).toEqual([...falling].sort((a, b) => b - a))
        expect(await scoresOf(fixture.memory, { sortOrder: 'asc' })).toEqual([...falling].reverse())
      },
    ),

    law('By recency the last written comes first, and accesses change nothing.', async ({ memory, time }) => {
      for (const key of ['first', 'second', 'third']) {
        await memory.write('long-term', key, 'harbour')
        time.advance(1000)
      }
      await memory.read('long-term', 'second')
      await memory.write('long-term', 'first', 'harbour again')
      const newest = ['first', 'third', 'second']
      for (const query of [{}, { text: 'harbour' }]) {
        expect(await keysFound(memory, 'long-term', query, { sortBy: 'recency' })).toEqual(newest)
        const ascending = await keysFound(memory, 'long-term', query, { sortBy: 'recency', sortOrder: 'asc' })
        expect(ascending).toEqual([...newest].reverse())
      }
    }),

    law('By access count the most used comes first.', async ({ memory }) => {
      for (const key of ['never', 'twice', 'once']) await memory.write('long-term', key, 'harbour')
      await memory.batchRead('long-term', ['twice', 'once'])
      await memory.read('long-term', 'twice')
      const used = ['twice', 'once', 'never']
      expect(await keysFound(memory, 'long-term', {}, { sortBy: 'accessCount' })).toEqual(used)
      expect(await keysFound(memory, 'long-term', {}, { sortBy: 'accessCount', sortOrder: 'asc' })).toEqual(
        used.reverse(),
      )
    }),

    law(
      'With a text the default order is relevance, without one it is recency.',
      async ({ memory, time }) => {
        await memory.write('long-term', 'older and better', 'harbour master')
        time.advance(1000)
        await memory.write(
          'long-term',
          'newer',
          'the harbour lies to the north of the town and its old walls',
        )
        expect(await keysFound(memory, 'long-term', { text: 'harbour master' })).toEqual([
          'older and better',
          'newer',
        ])
        expect(await keysFound(memory, 'long-term', {})).toEqual(['newer', 'older and better'])
      },
    ),
  ],
}

/** Turns of a conversation. More of them match than a store looks at, and no two match equally well. */
const turnsAbout = (conversation: number): string[] =>
  Array.from({ length: 12 + 3 * conversation }, (_, turn) => {
    const place = 100 * conversation + turn
    const said = subjects.filter((_, i) => (place * (i + 3)) % 11 < 4)
    return `${said.join(' ')} ${Array.from({ length: place % 97 }, (_, i) => `other${i}`).join(' ')}`
  })

const subjects = ['harbour', 'crane', 'pilot', 'lighthouse', 'rope']
