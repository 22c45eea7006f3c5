import { expect, it } from 'vitest'
import { holds } from '../report.ts'
import { qualityRows } from './quality-rows.ts'

const measured = (recall: number, mixture: number) => [
  { name: 'Recall', measures: { 'recall@10': recall } },
  { name: 'fixed mixture 0.5 of dense + BM25', measures: { 'recall@10': mixture } },
]

it('counts how many points Recall is ahead, and holds it to its aim', () => {
  const [ahead] = qualityRows('locomo-dev', measured(78.7, 70.4))
  expect(ahead?.ratio).toBeCloseTo(8.3)
  expect(ahead && holds(ahead)).toBe(true)
  const [behind] = qualityRows('locomo-dev', measured(74, 70.4))
  expect(behind && holds(behind)).toBe(false)
})

it('has nothing to say of data sets without an aim', () => {
  expect(qualityRows('mine', measured(78.7, 70.4))).toEqual([])
})

it('counts how far another store is from files, and what is refused where the evidence is gone', () => {
  const all = [
    { name: 'Recall', measures: { 'recall@10': 78.8 }, abstention: { refused: 20 } },
    { name: 'Recall on PGlite', measures: { 'recall@10': 77.9 } },
    { name: 'Recall in a hub', measures: { 'recall@10': 77.5 } },
    { name: 'Recall on PGlite, words alone', measures: { 'recall@10': 70 } },
  ]
  const [pglite, hub, refused, ...others] = qualityRows('mine-stores', all)
  expect([pglite?.ratio, hub?.ratio].map((points) => points?.toFixed(1))).toEqual(['0.9', '1.3'])
  expect(pglite && holds(pglite)).toBe(true)
  expect(hub && holds(hub)).toBe(false)
  expect(refused?.ratio).toBeCloseTo(1 / 3)
  expect(refused && holds(refused)).toBe(false)
  expect(others).toEqual([])
})
