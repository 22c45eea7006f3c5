import { expect, it } from 'vitest'
import { unitLabel } from './unit-label.ts'

it.each([
  ['Caroline: I went to the lake', 'Caroline'],
  ['### User\n\nDr. Jane O’Neil: hello', 'User Dr. Jane O’Neil'],
  ['### Assistant\n\nThe build is green.', 'Assistant'],
  ['## Deploys\nwait for the schema', 'Deploys'],
  ['**Ana:** no, that is bold up to the colon', ''],
  ['**Ana**: yes', 'Ana'],
  ['https://example.com is no name', ''],
  ['A sentence that is far too long to be the name of anybody who speaks: it goes on', ''],
  ['', ''],
])('%j', (text, label) => {
  expect(unitLabel(text, 1)).toBe(label)
  expect(unitLabel(text, 2)).toBe('')
})
