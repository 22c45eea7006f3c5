import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { confidenceOf } from './confidence.ts'
import {
  type QueryEvidence,
  rankUnits,
  recencyHalfLifeMs,
  spreadOf,
  type UnitEvidence,
} from './rank-units.ts'

const query: QueryEvidence<string> = { bm25Bound: 10, bm25Noise: 0 }
const talk: QueryEvidence<string> = {
  ...query,
  coverage: new Map([
    ['a', 0],
    ['b', 0],
  ]),
}
const unit = (
  document: string,
  number: number,
  more: Partial<UnitEvidence<string>> = {},
): UnitEvidence<string> => ({
  document,
  unit: number,
  parts: 1,
  bm25: 0,
  ageMs: 0,
  ...more,
})
const order = (candidates: UnitEvidence<string>[], given: QueryEvidence<string> = query): string[] =>
  rankUnits(candidates, given).map((ranked) => `${ranked.document}${ranked.unit}`)

const evidence = fc.record({
  document: fc.constantFrom('a', 'b', 'c'),
  unit: fc.nat(20),
  parts: fc.integer({ min: 1, max: 40 }),
  bm25: fc.double({ min: 0, max: 40, noNaN: true }),
  similarity: fc.double({ min: -1, max: 1, noNaN: true }),
  labelled: fc.boolean(),
  surroundings: fc.double({ min: 0, max: 1, noNaN: true }),
  ageMs: fc.double({ min: -1e12, max: 1e13, noNaN: true }),
})
const whole = fc.record({
  bm25Bound: fc.double({ min: 0.1, max: 60, noNaN: true }),
  bm25Noise: fc.double({ min: 0, max: 20, noNaN: true }),
  spread: fc.constant(spreadOf({ count: 100, sum: 20, squares: 8 })),
  coverage: fc.constant(new Map([['a', 0.7]])),
})

describe('rankUnits', () => {
  it('scores in 0..1, best first, as the sum of its signals', () => {
    fc.assert(
      fc.property(fc.array(evidence), whole, (candidates, given) => {
        let last = 1
        for (const { score, signals } of rankUnits(candidates, given)) {
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(last)
          expect(Object.values(signals).reduce((sum, share) => sum + share, 0)).toBeCloseTo(score, 9)
          last = score
        }
      }),
    )
  })

  it('keeps the order of BM25, also below the noise', () => {
    const candidates = [3, 9, 1, 5].map((bm25, i) => unit(`${i}`, 0, { bm25 }))
    expect(order(candidates)).toEqual(['10', '30', '00', '20'])
    expect(order(candidates, { ...query, bm25Noise: 8 })).toEqual(['10', '30', '00', '20'])
  })

  it('leaves out what neither words nor meaning speak for', () => {
    const spread = { mean: 0.5, deviation: 0.1 }
    expect(order([unit('a', 0), unit('b', 0, { labelled: true })])).toEqual([])
    expect(
      order([unit('a', 0, { similarity: 0.6 }), unit('b', 0, { similarity: 0.66 })], { ...query, spread }),
    ).toEqual(['b0'])
  })

  it('lets a turn count the words of its neighbours', () => {
    const turns = [unit('a', 4, { bm25: 3 }), unit('b', 4, { bm25: 3 }), unit('b', 5, { bm25: 5 })]
    expect(order(turns, talk)).toEqual(['b5', 'b4', 'a4'])
  })

  it('lets neither the parts of a long turn count for each other, nor those of a note', () => {
    const spread = { mean: 0.5, deviation: 0.1 }
    const evidence = { bm25: 3, similarity: 0.7, parts: 3 }
    const parts = [4, 5, 6].map((number) =>
      unit('a', number, { ...evidence, surroundings: 1, labelled: true }),
    )
    for (const given of [query, talk]) {
      const [alone] = rankUnits([unit('a', 0, evidence)], { ...given, spread })
      for (const { score } of rankUnits(parts, { ...given, spread })) expect(score).toBe(alone?.score)
    }
  })

  it('expects the best of many parts to be nearer by chance', () => {
    const spread = { mean: 0.5, deviation: 0.1 }
    const candidates = [4, 1, 8].map((parts) => unit(`${parts}/`, 0, { parts, similarity: 0.7 }))
    expect(order(candidates, { ...query, spread })).toEqual(['1/0', '4/0', '8/0'])
    const best = unit('8/', 1, { parts: 8, similarity: 0.8 })
    expect(order([...candidates, best], { ...query, spread })[0]).toBe('8/1')
    const [eighth, hundredth] = [8, 100].map(
      (parts) => rankUnits([unit('a', 0, { parts, similarity: 0.7 })], { ...query, spread })[0]?.score,
    )
    expect(hundredth).toBe(eighth)
  })

  it('finds a turn beside one that holds the words, though it holds none of them itself', () => {
    const turns = [unit('a', 4, { bm25: 3 }), unit('a', 5), unit('a', 6)]
    expect(order(turns, talk)).toEqual(['a4', 'a5'])
    expect(order(turns)).toEqual(['a4'])
  })

  it('lets a turn mean a little of what its neighbours mean', () => {
    const spread = { mean: 0.5, deviation: 0.1 }
    const said = (document: string, similarities: number[]) =>
      similarities.map((similarity, number) => unit(document, number, { similarity }))
    const turns = [
      ...said('a', [0.5, 0.7, 0.5]),
      ...said('b', [0.6, 0.7, 0.6]),
      unit('c', 0, { similarity: 0.7 }),
    ]
    expect(order(turns, { ...talk, spread })).toEqual(['c0', 'b1', 'a1'])
  })

  it('prefers what has the rest of the query around it', () => {
    const turns = [unit('a', 0, { bm25: 3, surroundings: 0.4 }), unit('b', 0, { bm25: 3, surroundings: 0.9 })]
    expect(order(turns, talk)).toEqual(['b0', 'a0'])
  })

  it('prefers a document that holds the rest of the query, and a speaker it names', () => {
    const same = [unit('a', 0, { bm25: 3 }), unit('b', 0, { bm25: 3 })]
    expect(order(same, { ...query, coverage: new Map([['b', 1]]) })).toEqual(['b0', 'a0'])
    const turns = [unit('a', 0, { bm25: 3 }), unit('b', 0, { bm25: 3, labelled: true })]
    expect(order(turns, talk)).toEqual(['b0', 'a0'])
  })

  it('trusts the meaning of notes more, the less words tell apart', () => {
    const candidates = [
      unit('words', 0, { bm25: 5, similarity: 0.6 }),
      unit('meaning', 0, { similarity: 0.9 }),
    ]
    const spread = { mean: 0.5, deviation: 0.1 }
    expect(order(candidates, { ...query, spread })).toEqual(['words0', 'meaning0'])
    expect(order(candidates, { ...query, spread, bm25Noise: 4 })).toEqual(['meaning0', 'words0'])
    const [none, some, more] = [0, 1, 2].map(
      (bm25Noise) =>
        rankUnits(candidates, { ...query, spread, bm25Noise }).find(({ document }) => document === 'meaning')
          ?.score as number,
    )
    expect(some).toBeGreaterThan(none as number)
    expect(more).toBeGreaterThan(some as number)
  })

  it('trusts the meaning of turns less, the more words could say', () => {
    const turns = [
      unit('words', 0, { bm25: 1.8, similarity: 0.6 }),
      unit('words', 1),
      unit('meaning', 0, { similarity: 0.9 }),
      unit('meaning', 1),
    ]
    const talk = {
      ...query,
      spread: { mean: 0.5, deviation: 0.1 },
      coverage: new Map([
        ['words', 0],
        ['meaning', 0],
      ]),
    }
    expect(order(turns, talk)[0]).toBe('meaning0')
    const rarer = turns.map((turn) => ({ ...turn, bm25: turn.bm25 * 40 }))
    expect(order(rarer, { ...talk, bm25Bound: 400 })[0]).toBe('words0')
  })

  it('trusts meaning most where no word is found', () => {
    const spread = { mean: 0.5, deviation: 0.1 }
    const near = unit('near', 0, { similarity: 0.9 })
    const alone = rankUnits([near], { ...query, spread })[0]?.score as number
    const ranked = rankUnits([near, unit('words', 0, { bm25: 1 })], { ...query, spread })
    expect(alone).toBeGreaterThan(2 * (ranked[0]?.score as number))
  })

  it('is as sure of a best unit without a vector as where there are none', () => {
    const spread = spreadOf({ count: 50, sum: 0, squares: 2 })
    const sureness = (candidates: UnitEvidence<string>[], given = query): number | undefined =>
      rankUnits(candidates, given)[0]?.confidence
    const best = unit('best', 0, { bm25: 5 })
    const byWords = sureness([best, unit('other', 0, { bm25: 1 })])
    expect(sureness([best, unit('other', 0, { bm25: 1, similarity: 0.1 })], { ...query, spread })).toBe(
      byWords,
    )
    expect(sureness([best, unit('best', 1, { bm25: 1, similarity: 0.1 })], { ...query, spread })).toBe(
      byWords,
    )
    const other = unit('other', 0, { bm25: 1 })
    expect(sureness([{ ...best, similarity: 0 }, other], { ...query, spread })).toBeLessThan(
      byWords as number,
    )
  })

  it('compares with the tenth match to tell how sure it is', () => {
    const candidates = Array.from({ length: 12 }, (_, i) => unit(`${i}`, 0, { bm25: 12 - i }))
    const ranked = rankUnits(candidates, query)
    const tenth = ranked[9]?.score as number
    for (const { score, confidence } of ranked)
      expect(confidence).toBe(confidenceOf(score, tenth, { kind: 'note', by: 'words' }))
  })

  it('counts recency half after its half-life', () => {
    const recency = (ageMs: number): number => {
      const { words = 0, recency = 0 } =
        rankUnits([unit('a', 0, { bm25: 3, ageMs })], query)[0]?.signals ?? {}
      return recency / words
    }
    expect(recency(recencyHalfLifeMs)).toBeCloseTo(recency(0) / 2, 9)
  })

  it('lets recency break near-ties and nothing more', () => {
    const old = { ageMs: 10 * recencyHalfLifeMs }
    expect(order([unit('a', 0, { bm25: 3, ...old }), unit('b', 0, { bm25: 3 })])).toEqual(['b0', 'a0'])
    expect(order([unit('a', 0, { bm25: 3.5, ...old }), unit('b', 0, { bm25: 3 })])).toEqual(['a0', 'b0'])
  })
})

describe('spreadOf', () => {
  it('is the spread itself where there is much of it', () => {
    const values = Array.from({ length: 100_000 }, (_, i) => 0.5 + 0.1 * Math.sin(i))
    const spread = spreadOf({
      count: values.length,
      sum: values.reduce((sum, value) => sum + value, 0),
      squares: values.reduce((sum, value) => sum + value ** 2, 0),
    })
    expect(spread.mean).toBeCloseTo(0.5, 2)
    expect(spread.deviation).toBeCloseTo(0.0707, 2)
  })

  it('is what unrelated texts have where there is nothing', () => {
    const spread = spreadOf({ count: 0, sum: 0, squares: 0 }, { mean: 0.5, deviation: 0.06 })
    expect(spread.mean).toBe(0.5)
    expect(spread.deviation).toBeCloseTo(0.06, 9)
  })
})
