import { expect, it } from 'vitest'
import { retryAfterOf } from './retry-after.ts'

it.each([
  ['120', 120_000],
  ['0.5', 500],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['9'.repeat(400), undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['Infinity', undefined],
  ['', undefined],
  [null, undefined],
])('waits by Retry-After: %s', (given, milliseconds) => {
  const now = Date.parse('2026-10-21T07:28:00Z')
  expect(retryAfterOf({ get: () => given }, now)).toBe(milliseconds)
})
