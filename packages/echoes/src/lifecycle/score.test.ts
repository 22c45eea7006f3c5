import { expect, it } from 'vitest'
import { entryOf } from '../../test/support.ts'
import { scoreEcho } from './score.ts'

const now = Date.parse('2026-06-30T12:00:00Z')
const scoreOf = (
  layer: 'etched' | 'inscribed' | 'traced',
  verified: string,
  references = 0,
  workflows = 10,
) => scoreEcho({ entry: entryOf({ layer, verified }), references, workflows }, now)

it.each([
  ['Importance = layer weight (etched=1.0)', scoreOf('etched', '2026-06-30').importance, 1],
  ['Importance = layer weight (inscribed=0.7)', scoreOf('inscribed', '2026-06-30').importance, 0.7],
  ['Importance = layer weight (traced=0.3)', scoreOf('traced', '2026-06-30').importance, 0.3],
  ['Relevance = times referenced / total workflows', scoreOf('traced', '2026-06-30', 4).relevance, 0.4],
  ['Relevance without any workflow', scoreOf('traced', '2026-06-30', 0, 0).relevance, 0],
  ['Recency = 1.0 - days / max age', scoreOf('traced', '2026-06-15').recency, 0.5],
  ['Recency of inscribed', scoreOf('inscribed', '2026-05-16').recency, 0.5],
  ['Recency never lies below 0', scoreOf('traced', '2020-01-01').recency, 0],
  ['(0.7 × 0.4) + (1.0 × 0.3) + (1.0 × 0.3)', scoreOf('inscribed', '2026-06-30', 10).score, 0.88],
  ['(0.3 × 0.4) + (0.4 × 0.3) + (0.5 × 0.3)', scoreOf('traced', '2026-06-15', 4).score, 0.39],
  ['Etched: score locked at 1.0', scoreOf('etched', '2001-01-01').score, 1],
])('%s', (_, actual, expected) => {
  expect(actual).toBeCloseTo(expected, 9)
})

it('is exact where a rule compares', () => {
  expect(scoreOf('inscribed', '2020-01-01', 1, 15).score).toBe(0.3)
  expect(scoreOf('traced', '2020-01-01', 4, 15).score).toBe(0.2)
})
