import { expect, it } from 'vitest'
import type { SearchIndex } from '../search-index/search-index.ts'
import { bringInStep, putKnown } from './in-step.ts'
import type { DocumentTexts } from './texts.ts'
import type { VectorFile } from './vector-file.ts'
import { VectorsReplaced } from './vectors-replaced.ts'

it('records the vectors of those texts of a document that have one', () => {
  let recorded: unknown
  const putVectors: SearchIndex['putVectors'] = (_, documents) => {
    recorded = documents.map(({ slots }) => slots)
    return true
  }
  const documents = [['a', 'b', 'c'], ['c', 'a'], ['b']].map((hashes) => ({ hashes }) as DocumentTexts)
  const slots = new Map([
    ['a', 0],
    ['c', 1],
  ])
  putKnown({ putVectors } as SearchIndex, 'mark', slots, documents)
  expect(recorded).toEqual([[0, undefined, 1], [1, 0], [undefined]])
})

it('is not in step where another process began with other vectors meanwhile', () => {
  const current = { areMarked: () => false, beginVectors() {}, endVectors: () => false }
  const file = { generation: 'one', count: 0 } as VectorFile
  expect(() => bringInStep(current as unknown as SearchIndex, file, () => () => null)).toThrow(
    VectorsReplaced,
  )
})
