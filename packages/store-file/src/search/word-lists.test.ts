import fc from 'fast-check'
import { expect, it } from 'vitest'
import { indexOfTexts } from '../../test/index-of-texts.ts'
import type { UnitRow } from '../search-index/word-rows.ts'
import { wordFactsOf } from './word-facts.ts'
import { createWordLists } from './word-lists.ts'

const conditions = { scope: 'long-term', namespace: 'default', now: 0, tags: [] } as const

/** The first are rare, the last in many texts; two are stems of others. */
const vocabulary = ['ant', 'running', 'runs', 'cat', 'eel', 'fox']

const text = fc
  .array(fc.integer({ min: 0, max: 35 }), { minLength: 1, maxLength: 12 })
  .map((draws) => draws.map((draw) => vocabulary[Math.floor(Math.sqrt(draw))] as string).join(' '))

const asked = fc.record({
  texts: fc.array(text, { minLength: 5, maxLength: 120, size: 'max' }),
  changes: fc.array(fc.tuple(fc.integer({ min: 1, max: 130 }), fc.option(text, { nil: undefined })), {
    maxLength: 20,
  }),
  words: fc.subarray([...vocabulary, 'absent'], { minLength: 1 }),
  limits: fc.array(fc.integer({ min: 1, max: 140 }), { minLength: 1, maxLength: 3 }),
})

/** Those that score the same may come in any order. */
function expectSame(found: UnitRow[] | undefined, all: readonly UnitRow[], limit: number): void {
  const strengths = new Map(all.map(({ id, bm25 }) => [id, bm25.toPrecision(9)]))
  expect(found?.map(({ bm25 }) => bm25.toPrecision(9))).toEqual([...strengths.values()].slice(0, limit))
  for (const { id, bm25 } of found ?? []) expect(bm25.toPrecision(9)).toBe(strengths.get(id))
  expect(new Set(found?.map(({ id }) => id)).size).toBe(found?.length)
}

it('finds the units that FTS5 finds, in its order, whatever was changed before', () => {
  fc.assert(
    fc.property(asked, ({ texts, changes, words, limits }) => {
      const { index, replace } = indexOfTexts(texts)
      for (const [id, changed] of changes) replace(id, changed)
      const { findAll, findAny } = createWordLists(index, 'long-term', wordFactsOf(index, 'long-term', words))
      for (const limit of limits) {
        const [all, any] = [true, false].map((every) =>
          index.matchUnits({ words, every }, conditions, false, texts.length + changes.length),
        ) as [UnitRow[], UnitRow[]]
        expectSame(findAll?.(limit), all, limit)
        expectSame(findAny?.(limit), any, limit)
      }
    }),
  )
})

it('finds by the other words where one is nearly everywhere, as long as they find enough', () => {
  const { index } = indexOfTexts(
    Array.from({ length: 9000 }, (_, i) => (i % 1000 === 0 ? 'bee src' : i % 1500 === 7 ? 'bee' : 'src')),
  )
  const lists = createWordLists(index, 'long-term', wordFactsOf(index, 'long-term', ['bee', 'src']))
  expect(lists.findAll).toBeUndefined()
  expect(lists.findAny?.(15)?.map(({ id }) => id)).toEqual(
    index.matchUnits({ words: ['bee'], every: false }, conditions, false, 15).map(({ id }) => id),
  )
  expect(lists.findAny?.(16)).toBeUndefined()
  expect(createWordLists(index, 'long-term', wordFactsOf(index, 'long-term', ['src']))).toEqual({})
})

it('leaves words that FTS5 takes for several to its tables', () => {
  const { index } = indexOfTexts(['two words', 'words two'])
  expect(createWordLists(index, 'long-term', wordFactsOf(index, 'long-term', ['two-words', 'two']))).toEqual(
    {},
  )
})
