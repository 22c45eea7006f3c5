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
