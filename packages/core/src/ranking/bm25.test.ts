import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bm25, countTerms } from './bm25.ts'
import { wordsOf } from './words.ts'

const documents = (...texts: string[]) => texts.map((text) => countTerms(wordsOf(text)))

describe('bm25', () => {
  it('matches a value worked out by hand', () => {
    // N = 2, df = 1, length 2 of average 2: ln(1 + 1.5 / 1.5) · (1 · 2.2) / (1 + 1.2)
    const [score] = bm25(['door'], documents('blue door', 'red wall'))
    expect(score).toBeCloseTo(Math.log(2), 10)
  })

  it('gives 0 to documents without the words', () => {
    expect(bm25(['zeppelin'], documents('blue door', ''))).toEqual([0, 0])
    expect(bm25([], documents('blue door'))).toEqual([0])
    expect(bm25(['door'], [])).toEqual([])
  })

  it('prefers rare words, repeated words and short documents', () => {
    const [rare, common] = bm25(['rare', 'common'], documents('rare', 'common', 'common', 'common'))
    expect(rare).toBeGreaterThan(common ?? 0)
    const [twice, once] = bm25(['door'], documents('door door wall', 'door wall wall'))
    expect(twice).toBeGreaterThan(once ?? 0)
    const [short, long] = bm25(['door'], documents('door', 'door and many other words as well'))
    expect(short).toBeGreaterThan(long ?? 0)
  })

  it('is never negative, not even for a word that every document holds', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd')).map((words) => words.join(' '))
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        for (const score of bm25(['a', 'b'], documents(...texts))) expect(score).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
