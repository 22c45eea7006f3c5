import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MemoryErrorCode } from '../errors.ts'
import { errorCode, orAbsent, writing } from './file-errors.ts'

const failing = (code: string) => (): never => {
  throw Object.assign(new Error(`${code}: it failed`), { code })
}
const caught = (call: () => unknown): unknown => {
  try {
    return call()
  } catch (error) {
    return error
  }
}

it('a file that is absent is null, also where an error that names its path lies around that', () => {
  expect(orAbsent(() => readFileSync('/nowhere/at/all'))).toBeNull()
  expect(orAbsent(() => writing('/a', failing('ENOENT')))).toBeNull()
  expect(orAbsent(() => 'there')).toBe('there')
})

it.each(['ENOTDIR', 'EACCES', 'EIO'])('%s is not taken for an absent file', (code) => {
  expect(() => orAbsent(failing(code))).toThrow(code)
})

it('a failed write names its path, once, and keeps the code of the system', () => {
  const error = caught(() => writing('/a', () => writing('/b', failing('ENOSPC'))))
  expect(error).toMatchObject({
    code: MemoryErrorCode.WRITE_FAILED,
    message: '/b could not be written: ENOSPC: it failed',
    details: { path: '/b' },
  })
  expect(errorCode(error)).toBe('ENOSPC')
})

it('what has no code has none', () => {
  expect(errorCode(new Error('no'))).toBeUndefined()
  expect(errorCode(null)).toBeUndefined()
})
