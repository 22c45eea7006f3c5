import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { splitByRarity } from '@recall/core/ranking'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { indexOf } from '../../test/support/index-of-texts.ts'
import { isNearlyEverywhere, wordFactsOf } from './word-facts.ts'

const vocabulary = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox']
const conditions = { scope: 'long-term', namespace: 'default', now: 0, tags: [] } as const

/** The first words are rare, the last ones are nearly everywhere. */
const text = fc
  .tuple(...vocabulary.map(() => fc.integer({ min: 1, max: 1000 })))
  .map((draws) =>
    vocabulary.filter((_, i) => (draws[i] as number) <= 1000 * ((i + 1) / vocabulary.length) ** 3).join(' '),
  )

it('finds the best units by the rarer words alone, whenever it says so', () => {
  let said = 0
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 100, maxLength: 300, size: 'max' }),
      fc.subarray(vocabulary, { minLength: 3 }),
      fc.integer({ min: 1, max: 8 }),
      (texts, words, pool) => {
        const index = indexOf(texts)
        const facts = wordFactsOf(index, 'long-term', words)
        const { finding, counting, bound } = splitByRarity(facts, pool, texts.length)
        const also = facts.filter((each) => counting.includes(each.word) && !isNearlyEverywhere(each))
        expect([...finding, ...counting].sort()).toEqual(words.sort())
        if (counting.length === 0) return
        const all = index.matchUnits({ match: words.join(' OR ') }, conditions, false, pool)
        const some = index.matchUnits(
          { match: finding.join(' OR '), also: also.map(({ word }) => word).join(' OR ') },
          conditions,
          false,
          pool,
        )
        if (some.length < pool || (some.at(-1)?.bm25 ?? 0) <= bound) return
        said++
        // What is nearly everywhere adds a millionth.
        some.forEach(({ bm25 }, i) => {
          expect(bm25).toBeCloseTo(all[i]?.bm25 ?? 0, 4)
        })
        expect(some).toHaveLength(all.length)
      },
    ),
    { numRuns: 150 },
  )
  expect(said).toBeGreaterThan(20)
})

it('knows where a word is, also one that is nearly everywhere', () => {
  const index = indexOf(
    Array.from({ length: 5000 }, (_, i) => (i === 7 ? 'bee' : i === 9 ? 'ant bee' : 'ant')),
  )
  const facts = wordFactsOf(index, 'long-term', ['ant', 'bee', 'cat'])
  const [ant, bee, cat] = facts
  expect(facts.map(isNearlyEverywhere)).toEqual([true, false, false])
  expect([ant, bee, cat].map((facts) => facts?.count)).toEqual([4999, 2, 0])
  expect([ant?.isIn(8, 8), ant?.isIn(8, 9), bee?.isIn(1, 7), bee?.isIn(1, 8), cat?.isIn(1, 5000)]).toEqual([
    false,
    true,
    false,
    true,
    false,
  ])
})

it('counts a common word anew when this or another process has changed the index', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recall-words-'))
  const own = new DatabaseSync(join(folder, 'index.db'))
  const others = new DatabaseSync(join(folder, 'index.db'))
  const index = indexOf(
    Array.from({ length: 5000 }, () => 'ant'),
    own,
  )
  const count = () => wordFactsOf(index, 'long-term', ['ant'])[0]?.count
  expect([count(), count()]).toEqual([5000, 5000])
  own.exec("INSERT INTO words2 (rowid, text) VALUES (6001, 'ant')")
  expect(count()).toBe(5001)
  others.exec("INSERT INTO words2 (rowid, text) VALUES (6002, 'ant bee')")
  expect(count()).toBe(5002)
  own.close()
  others.close()
  rmSync(folder, { recursive: true })
})
