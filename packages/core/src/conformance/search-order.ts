import { expect } from 'vitest'
import type { MemoryManager, SearchOptions } from '../memory-manager.ts'
import { keysFound, refused } from './expectations.ts'
import { type Fixture, law, type Theme } from './harness.ts'

const sorts = ['relevance', 'recency', 'accessCount'] as const

/** Twelve entries of different relevance, age and use; some tie. */
async function fillShelf({ memory, time }: Fixture): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await memory.write(
      'long-term',
      `book ${i}`,
      `${'harbour '.repeat(1 + (i % 4))} ${'other words '.repeat(i % 3)}`,
    )
    if (i % 2 === 0) time.advance(60_000)
  }
  for (let i = 0; i < 5; i++) await memory.batchRead('long-term', [`book ${i}`, `book ${i * 2}`])
}

/** Pages of one search, also in other orders than best first. */
const pages: SearchOptions[] = [
  {},
  { limit: 1 },
  { limit: 3, offset: 3 },
  { limit: 12 },
  { offset: 8 },
  { sortOrder: 'asc', limit: 3 },
  { sortBy: 'recency' },
  { sortBy: 'accessCount', offset: 4 },
]

const usesOf = async (memory: MemoryManager): Promise<[string, number][]> => {
  const entries = await memory.search('long-term', {}, { limit: 100, touch: false })
  return entries.map(({ key, metadata }) => [key, metadata.accessCount])
}

const scoresOf = async (memory: MemoryManager, options: SearchOptions): Promise<number[]> =>
  (await memory.search('long-term', { text: 'harbour' }, { limit: 100, touch: false, ...options })).map(
    ({ score }) => score,
  )

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

    law('Without a text or an embedding every match says filter and scores 1.', async ({ memory }) => {
      await memory.write('long-term', 'a', { n: 1 }, { tags: ['t'] })
      for (const query of [{}, { tags: ['t'] }, { filters: { n: 1 } }]) {
        expect(await memory.search('long-term', query)).toMatchObject([
          { key: 'a', score: 1, mode: 'filter' },
        ])
      }
    }),

    law('Matches that score below minScore are left out before the limit counts.', async (fixture) => {
      await fillShelf(fixture)
      const scores = await scoresOf(fixture.memory, {})
      const middle = scores[5] ?? 0
      const kept = await scoresOf(fixture.memory, { minScore: middle })
      expect(kept).toEqual(scores.filter((score) => score >= middle))
      expect(await scoresOf(fixture.memory, { minScore: 1 })).toEqual(scores.filter((score) => score === 1))
    }),

    law(
      'With explain the shares of the signals add up to the score, without it there are none.',
      async (fixture) => {
        await fillShelf(fixture)
        const explained = await fixture.memory.search('long-term', { text: 'harbour' }, { explain: true })
        for (const { score, signals } of explained) {
          const sum = Object.values(signals ?? {}).reduce((total, share) => total + share, 0)
          expect(sum).toBeCloseTo(score, 6)
        }
        const [plain] = await fixture.memory.search('long-term', { text: 'harbour' })
        expect(plain).not.toHaveProperty('signals')
      },
    ),

    law(
      'A search by text tells with every match how likely the memory knows, 0 to 1, falling with the score, however few are asked for.',
      async (fixture) => {
        await fillShelf(fixture)
        const matches = await fixture.memory.search('long-term', { text: 'harbour' }, { limit: 50 })
        const told = matches.map(({ confidence }) => confidence ?? -1)
        for (const confidence of told) expect(confidence).toBeGreaterThanOrEqual(0)
        for (const confidence of told) expect(confidence).toBeLessThan(1)
        expect(told).toEqual(told.toSorted((a, b) => b - a))
        const [listed] = await fixture.memory.search('long-term', {})
        expect(listed).not.toHaveProperty('confidence')
        for (const text of ['harbour', 'harbour words', 'book harbour words']) {
          const ten = await fixture.memory.search('long-term', { text }, { limit: 10, touch: false })
          for (const limit of [1, 3, 9]) {
            const few = await fixture.memory.search('long-term', { text }, { limit, touch: false })
            expect(few.map(({ key, confidence }) => [key, confidence])).toEqual(
              ten.slice(0, limit).map(({ key, confidence }) => [key, confidence]),
            )
          }
        }
      },
    ),

    law(
      'A search with minConfidence finds nothing on any page when the best match is less sure, and needs a text.',
      async (fixture) => {
        const { memory } = fixture
        await fillShelf(fixture)
        const before = await usesOf(memory)
        for (const query of [{ text: 'harbour' }, { text: 'harbour words' }]) {
          const [best] = await memory.search('long-term', query, { touch: false })
          const confidence = best?.confidence ?? 0
          expect(confidence).toBeGreaterThan(0)
          for (const page of pages) {
            const options = { limit: 10, ...page }
            const found = await keysFound(memory, 'long-term', query, options)
            expect(found).not.toEqual([])
            const sure = { ...options, minConfidence: confidence }
            expect(await keysFound(memory, 'long-term', query, sure)).toEqual(found)
            const unsure = { ...options, minConfidence: confidence + 1e-6 }
            expect(await memory.search('long-term', query, unsure)).toEqual([])
          }
        }
        expect(await usesOf(memory)).toEqual(before)
        expect(await memory.search('long-term', { text: 'unheard' }, { minConfidence: 0.1 })).toEqual([])
        for (const query of [{}, { text: ' ' }, { tags: ['a'] }, { filters: { n: 1 } }]) {
          await refused('INVALID_INPUT', () => memory.search('long-term', query, { minConfidence: 0.1 }))
          await memory.search('long-term', query, { minConfidence: 0 })
        }
      },
    ),

    law('A memory is sure of what it holds, however little that is.', async ({ memory }) => {
      await memory.write('long-term', 'zebra', 'The zebra migration begins in the spring, says the plan.')
      for (let size = 1; size <= 20; size++) {
        const text = 'what was the plan for the zebra migration'
        const [best] = await memory.search('long-term', { text }, { touch: false })
        expect(best?.key).toBe('zebra')
        expect(best?.confidence).toBeGreaterThan(0.15)
        const other = await memory.search('long-term', { text: 'who wrote about gardens' }, { touch: false })
        expect(other[0]?.confidence ?? 0).toBeLessThan(0.15)
        await memory.write('long-term', `note-${size}`, `The harbour of day ${size} has a plan of its own.`)
      }
    }),

    law('A search by tags finds the entries that carry all of them.', async ({ memory }) => {
      await memory.write('long-term', 'ab', 1, { tags: ['a', 'b'] })
      await memory.write('long-term', 'a', 2, { tags: ['a'] })
      await memory.write('long-term', 'abc', 3, { tags: ['c', 'b', 'a'] })
      await memory.write('long-term', 'AB', 4, { tags: ['A', 'B', 'a b', 'ab'] })
      expect((await keysFound(memory, 'long-term', { tags: ['a', 'b'] })).sort()).toEqual(['ab', 'abc'])
      expect(await keysFound(memory, 'long-term', { tags: [] })).toHaveLength(4)
      expect(await keysFound(memory, 'long-term', { tags: ['%'] })).toEqual([])
    }),
  ],
}
