import { readFileSync } from 'node:fs'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { errorDocument } from '../src/exit-codes.ts'
import { temporaryFolder } from './support.ts'

it.each([
  ['EACCES', 'check that this user may read and write there'],
  ['ENOSPC', 'make room on that disk'],
])('says what to do about %s of the system', (code, remedy) => {
  const error = Object.assign(new Error(`${code}: no, open '/memory'`), { code, syscall: 'open' })
  expect(errorDocument(error)).toEqual({ code, message: `${code}: no, open '/memory': ${remedy}` })
})

it('adds nothing to an error that says so itself, or of which nobody knows what to do', () => {
  const own = new MemoryError('the disk is full: make room', MemoryErrorCode.UNAVAILABLE)
  expect(errorDocument(own).message).toBe('the disk is full: make room')
  try {
    readFileSync(temporaryFolder())
  } catch (error) {
    expect(errorDocument(error)).toEqual({ code: 'EISDIR', message: (error as Error).message })
  }
  expect.assertions(2)
})
