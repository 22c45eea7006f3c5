import { MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { timeLimit } from './time-limit.ts'

it('is one that a timer and Postgres take, however long', () => {
  expect([10, 0.5, 2 ** 31 - 1, 2 ** 31, Number.POSITIVE_INFINITY].map(timeLimit)).toEqual([
    10,
    1,
    2 ** 31 - 1,
    2 ** 31 - 1,
    2 ** 31 - 1,
  ])
})

it.each([0, -1, Number.NaN, 'soon'])('is not %s', (timeoutMs) => {
  expect(() => timeLimit(timeoutMs as number)).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
  )
})
