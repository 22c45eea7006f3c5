import { expect, it } from 'vitest'
import type { HashedRow } from '../search-index/document-row.ts'
import { textsOf } from './texts.ts'

it('leaves out documents whose files no longer hold what was indexed', () => {
  const row = { units: 2 } as HashedRow
  const found = (texts: string[] | null) => textsOf([row], () => () => texts).map((each) => each.texts)
  expect(found(null)).toEqual([])
  expect(found(['one'])).toEqual([])
  expect(found(['one', 'two', 'three'])).toEqual([])
  expect(found(['one', 'two'])).toEqual([['one', 'two']])
})
