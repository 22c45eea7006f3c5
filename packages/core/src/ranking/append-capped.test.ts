import { expect, it } from 'vitest'
import { appendCapped, type RankedMatch, withinMatch } from './append-capped.ts'

const match = (key: string, score: number, confidence = score) => ({
  key,
  score,
  confidence,
  signals: { words: score / 2, context: score / 2 },
})
const keyOf = ({ key }: { key: string }): string => key

it('keeps what it has, and adds what is new below it', () => {
  const list = appendCapped(
    [match('a', 0.6), match('b', 0.4)],
    [match('c', 0.8), match('a', 0.7), match('d', 0.1)],
    keyOf,
  )
  expect(list.map(keyOf)).toEqual(['a', 'b', 'c', 'd'])
  expect(list.map(({ score }) => score)).toEqual([0.6, 0.4, expect.closeTo(0.4, 5), 0.1])
  expect(list[2]?.score).toBeLessThan(0.4)
  expect(list[2]?.confidence).toBe(0.4)
  expect(Object.values(list[2]?.signals ?? {}).reduce((sum, share) => sum + share)).toBeCloseTo(
    list[2]?.score ?? 0,
    9,
  )
})

it('is no surer of what a later look adds than of what it has', () => {
  const list = appendCapped([match('a', 0.6, 0.3)], [match('b', 0.5, 0.4)], keyOf)
  expect(list.map(({ score, confidence }) => [score, confidence])).toEqual([
    [0.6, 0.3],
    [0.5, 0.3],
  ])
})

it('gives no confidence where one of them has none', () => {
  const [, below] = appendCapped<RankedMatch & { key: string }>(
    [match('a', 0.4)],
    [{ key: 'b', score: 0.2, signals: {} }],
    keyOf,
  )
  expect(below).toEqual({ key: 'b', score: 0.2, signals: {} })
})

it('begins with whatever is found first', () => {
  const found = [match('a', 0.6), match('b', 0.4)]
  expect(appendCapped([], found, keyOf)).toEqual(found)
})

it('tells a passage no better and no surer than its match', () => {
  const passage = { score: 0.5, confidence: 0.4 }
  expect(withinMatch({ score: 0.6, confidence: 0.3 }, passage)).toEqual({ score: 0.5, confidence: 0.3 })
  expect(withinMatch({ score: 0.2, confidence: 0.7 }, passage)).toEqual({ score: 0.2, confidence: 0.4 })
  expect(withinMatch({ score: 0.2 }, passage)).toEqual({ score: 0.2 })
  expect(withinMatch(passage, { score: 0.2 })).toEqual({ score: 0.2 })
})
