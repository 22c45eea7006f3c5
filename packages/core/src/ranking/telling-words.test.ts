import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasManyWords, tellingWords } from './telling-words.ts'

const numbered = (counts: readonly number[]) => counts.map((count, i) => ({ word: `w${i}`, count }))

describe('the telling words', () => {
  it('of a question are all, also those that no unit holds', () => {
    const question = numbered([0, 500, 3, 0, 7])
    expect(tellingWords(question)).toEqual(question)
    expect(hasManyWords(question.map(({ word }) => word))).toBe(false)
  })

  it('of a long text are the rarest ones that are held, in their order', () => {
    const text = numbered([900, 3, 0, ...Array.from({ length: 14 }, () => 50), 1, 60])
    expect(tellingWords(text)).toEqual(text.filter(({ count }) => count > 0 && count <= 50))
    expect(hasManyWords(text.map(({ word }) => word))).toBe(true)
  })

  it('are filled up with words that no unit holds', () => {
    const text = numbered([0, 0, 9, ...Array.from({ length: 20 }, () => 0)])
    expect(tellingWords(text)).toEqual(text.slice(0, 16))
    expect(hasManyWords(text.slice(0, 16).map(({ word }) => word))).toBe(false)
  })

  it('are twice as many in a script without spaces, whose words are pairs of characters', () => {
    const pairs = (length: number) => Array.from({ length }, (_, i) => ({ word: `数${i}`, count: 1 }))
    expect(tellingWords(pairs(32))).toHaveLength(32)
    expect(tellingWords(pairs(40))).toHaveLength(32)
  })

  it('are the same in any order of the text, but for ties', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 60 }),
        (counts) => {
          const words = numbered(counts)
          expect(new Set(tellingWords(words.toReversed()))).toEqual(new Set(tellingWords(words)))
        },
      ),
    )
  })
})
