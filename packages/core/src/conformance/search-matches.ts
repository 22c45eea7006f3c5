import { expect } from 'vitest'
import type { MemoryManager, SearchOptions } from '../memory-manager.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'
import { fillShelf, scoresOf } from './shelf.ts'

/** Pages of one search, including orders other than best first. */
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

export const searchMatches: Theme = {
  title: 'What a match tells',
  laws: [
    law('Without a text or an embedding every match says filter and scores 1.', async ({ memory }) => {
      await memory.write('long-term', 'a', { n: 1 }, { tags: ['t'] })
      for (const query of [{}, { tags: ['t'] }, { filters: { n: 1 } }]) {
        expect(await memory.search('long-term', query)).toMatchObject([
          { key: 'a', score: 1, mode: 'filter' },
        ])
      }
    }),

    law('A match in a long text shows the passage that holds the words.', async ({ memory }) => {
      const paragraphs = Array.from({ length: 400 }, (_, i) => `Paragraph ${i} is about nothing much at all.`)
      paragraphs[250] = 'Here the zeppelin lands.'
      const text = paragraphs.join('\n\n')
      await memory.write('long-term', 'long', text)
      const [match] = await memory.search('long-term', { text: 'zeppelin' })
      expect(match?.passage?.text).toContain('zeppelin')
      expect(match?.passage?.text.length).toBeLessThan(text.length / 3)
    }),

    law(
      'A search that asks for passages gets the best ones of each match, best first, each with its score and how sure it is.',
      async ({ memory }) => {
        const paragraphs = Array.from(
          { length: 400 },
          (_, i) => `Paragraph ${i} is about nothing much at all.`,
        )
        paragraphs[50] = 'Here the zeppelin lands in the harbour.'
        paragraphs[350] = 'Another zeppelin.'
        await memory.write('long-term', 'long', paragraphs.join('\n\n'))
        const query = { text: 'zeppelin harbour' }
        const [match] = await memory.search('long-term', query, { passages: 3 })
        const passages = match?.passages ?? []
        expect(passages.length).toBeGreaterThanOrEqual(1)
        expect(passages.length).toBeLessThanOrEqual(3)
        expect(passages[0]?.text).toContain('harbour')
        expect(passages[0]?.text).toBe(match?.passage?.text)
        expect(passages[0]).toMatchObject({ score: match?.score, confidence: match?.confidence })
        const told = passages.map(({ confidence }) => confidence ?? -1)
        expect(told).toEqual(told.toSorted((a, b) => b - a))
        const scores = passages.map(({ score }) => score ?? -1)
        expect(scores).toEqual(scores.toSorted((a, b) => b - a))
        expect(scores[0]).toBeCloseTo(match?.score ?? -1, 9)
        const [least] = await memory.search('long-term', query, { passages: 1 })
        expect(least?.passages).toHaveLength(1)
        const [plain] = await memory.search('long-term', query)
        expect(plain?.passages).toBeUndefined()
      },
    ),

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

    law('Entries without words change nothing of how others match.', async ({ memory }) => {
      await memory.write(
        'long-term',
        'deploys',
        'Deploys are frozen on Fridays, because nobody is there to help.',
      )
      await memory.write('long-term', 'lunch', 'The canteen is open until two, also on Fridays.')
      const search = () => memory.search('long-term', { text: 'when are deploys frozen' }, { touch: false })
      const before = await search()
      for (let i = 0; i < 20; i++)
        await memory.write('long-term', `count-${i}`, [i, '', { n: 1, ok: true }][i % 3])
      await memory.write('long-term', 'unindexed', 'Of deploys that were frozen.', { index: false })
      await memory.write('long-term', 'emptied', 'Deploys, again frozen deploys.')
      await memory.write('long-term', 'emptied', 7)
      const after = await search()
      expect(after.map(({ key }) => key)).toEqual(before.map(({ key }) => key))
      for (const [i, { score, confidence }] of before.entries()) {
        expect(after[i]?.score).toBeCloseTo(score, 4)
        expect(after[i]?.confidence).toBeCloseTo(confidence ?? 0, 4)
      }
    }),
  ],
}
