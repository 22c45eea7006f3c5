import fc from 'fast-check'
import { expect, it } from 'vitest'
import { lexicalScore, lexicalWeights, recencyHalfLifeMs } from './lexical-score.ts'

const evidence = fc
  .record({
    bm25: fc.double({ min: 0, max: 100, noNaN: true }),
    queryTerms: fc.integer({ min: 1, max: 20 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    ageMs: fc.double({ min: -1e12, max: 1e13, noNaN: true }),
  })
  .map(({ share, ...rest }) => ({ ...rest, matchedTerms: Math.round(share * rest.queryTerms) }))

it('weighs its signals so that they add up to 1', () => {
  const sum = Object.values(lexicalWeights).reduce((total, weight) => total + weight, 0)
  expect(sum).toBeCloseTo(1, 10)
})

it('scores in 0..1, as the sum of its signals', () => {
  fc.assert(
    fc.property(evidence, (given) => {
      const { score, signals } = lexicalScore(given)
      expect(score).toBeGreaterThanOrEqual(0)
      expect(score).toBeLessThanOrEqual(1)
      expect(Object.values(signals).reduce((total, share) => total + share, 0)).toBeCloseTo(score, 10)
    }),
  )
})

it('keeps the order of BM25, of coverage and of age', () => {
  fc.assert(
    fc.property(evidence, fc.double({ min: 0.01, max: 50, noNaN: true }), (given, more) => {
      const { score } = lexicalScore(given)
      expect(lexicalScore({ ...given, bm25: given.bm25 + more }).score).toBeGreaterThan(score)
      expect(lexicalScore({ ...given, ageMs: given.ageMs + more * 1e9 }).score).toBeLessThanOrEqual(score)
      const fuller = lexicalScore({ ...given, matchedTerms: given.queryTerms }).score
      expect(fuller).toBeGreaterThanOrEqual(score)
    }),
  )
})

it('halves recency with every half-life and counts the future as now', () => {
  const recency = (ageMs: number) =>
    lexicalScore({ bm25: 1, queryTerms: 1, matchedTerms: 1, ageMs }).signals.recency
  expect(recency(0)).toBe(lexicalWeights.recency)
  expect(recency(recencyHalfLifeMs)).toBeCloseTo(lexicalWeights.recency / 2, 10)
  expect(recency(-1e9)).toBe(lexicalWeights.recency)
})

it('lets recency break near-ties and nothing more', () => {
  const old = lexicalScore({ bm25: 3, queryTerms: 2, matchedTerms: 2, ageMs: 1e12 }).score
  const fresh = lexicalScore({ bm25: 1, queryTerms: 2, matchedTerms: 1, ageMs: 0 }).score
  expect(old).toBeGreaterThan(fresh)
})
