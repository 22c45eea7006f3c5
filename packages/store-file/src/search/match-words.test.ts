import type { StoreQuery } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { indexOf } from '../../test/support/index-of-texts.ts'
import { seededRandom } from '../../test/support/random.ts'
import { createCandidateFilter } from './candidate-filter.ts'
import { poolOf } from './candidate-limits.ts'
import { matchWords } from './match-words.ts'
import { wordFactsOf } from './word-facts.ts'

/** The share of the units that hold each word. */
const shares = { ant: 0.01, bee: 0.14, cat: 0.16, dog: 0.42, eel: 0.45, fox: 0.6 }
const words = Object.keys(shares) as (keyof typeof shares)[]

/** Where a word is rare, its unit is long, where it counts less: so that it finds the strongest, or just does not. */
function textsOf(seed: number): string[] {
  const random = seededRandom(seed)
  return Array.from({ length: 350 + Math.floor(random() * 50) }, () => {
    const held = words.filter((word) => random() < shares[word])
    const least = held.some((word) => shares[word] < 0.2) ? 60 : 0
    return [...held, ...Array(least + Math.floor(random() * 60)).fill('other')].join(' ')
  })
}

const query: StoreQuery = {
  ...{ scope: 'long-term', namespace: 'default', text: words.join(' '), limit: 10, offset: 0, minScore: 0 },
  ...{ sortBy: 'relevance', sortOrder: 'desc', now: 0 },
}
const noFiles = { value: () => undefined, use: () => ({ at: 0, count: 0 }) }

it('finds the strongest units, whichever words it looks for first', () => {
  fc.assert(
    fc.property(fc.integer(), fc.subarray(words, { minLength: 2 }), (seed, asked) => {
      const index = indexOf(textsOf(seed))
      const facts = wordFactsOf(index, 'long-term', asked)
      const { found, together } = matchWords(
        index,
        facts,
        query,
        createCandidateFilter(index, query, noFiles),
        false,
      )
      const all = index.matchUnits(
        { match: asked.join(found === together ? ' AND ' : ' OR ') },
        { scope: 'long-term', namespace: 'default', now: 0, tags: [] },
        false,
        poolOf(query),
      )
      expect(all).toHaveLength(Math.min(found.length, poolOf(query)))
      // What is nearly everywhere adds a millionth.
      for (const [i, { bm25 }] of all.entries()) expect(found[i]?.bm25).toBeCloseTo(bm25, 4)
      expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(together.map(({ id }) => id)))
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    }),
  )
})
