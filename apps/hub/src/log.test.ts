import { MemoryError, MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { loggedError } from './log.ts'

it('tells where an error was thrown that nobody expected, and nothing of its message', () => {
  const message = 'Failed query: insert\n    at marzipan (/etc/marzipan:1:1)\nparams: marzipan'
  const { at = [], ...rest } = loggedError(Object.assign(new TypeError(message), { code: '23505' }))
  expect(rest).toEqual({ name: 'TypeError', code: '23505' })
  expect(at[0]).toMatch(/log\.test\.ts:\d+:\d+/)
  expect(at.length).toBeLessThanOrEqual(8)
  expect(at.join()).not.toContain('marzipan')
})

it('tells of an error that is part of the contract its code, and of one without a stack its name', () => {
  const down = new MemoryError('down', MemoryErrorCode.UNAVAILABLE)
  expect(loggedError(down)).toEqual({ name: 'MemoryError', code: MemoryErrorCode.UNAVAILABLE })
  const bare = new Error('')
  delete bare.stack
  expect(loggedError(bare)).toEqual({ name: 'Error' })
  expect(
    loggedError(Object.assign(new Error('new'), { stack: 'Error: old\n    at old (/old:1:1)' })),
  ).toEqual({
    name: 'Error',
  })
})
