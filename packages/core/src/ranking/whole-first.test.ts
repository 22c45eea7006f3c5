import { expect, it } from 'vitest'
import { wholeFirst } from './whole-first.ts'

const match = (document: string, score: number) => ({
  document,
  score,
  confidence: score / 2,
  signals: { words: score },
})
const order = (matches: { document: string; score: number }[]) =>
  matches.map(({ document, score }) => [document, Number(score.toFixed(3))])

it('puts documents that hold the whole query first, and caps the others below the best of the last', () => {
  const ranked = [match('a', 0.9), match('b', 0.5), match('c', 0.4), match('b', 0.2), match('a', 0.1)]
  const found = wholeFirst(ranked, new Set(['b', 'c']))
  expect(order(found)).toEqual([
    ['b', 0.5],
    ['c', 0.4],
    ['b', 0.2],
    ['a', 0.4],
    ['a', 0.1],
  ])
  expect(found[3]?.score).toBeLessThan(0.4)
  expect(found[3]?.confidence).toBe(0.2)
  expect(found[3]?.signals.words).toBeCloseTo(0.4, 3)
})

it('changes nothing where none does, or where the one that does was not found', () => {
  const ranked = [match('a', 0.9), match('b', 0.5)]
  expect(wholeFirst(ranked, new Set())).toEqual(ranked)
  expect(wholeFirst(ranked, new Set(['c']))).toEqual(ranked)
})
