import { describe, expect, it } from 'vitest'
import { errorStatus, isMemoryError, MemoryError, MemoryErrorCode } from './errors.ts'

describe('MemoryError', () => {
  it('carries code, place, cause and facts', () => {
    const cause = new Error('disk full')
    const context = {
      scope: 'long-term',
      key: 'goal',
      cause,
      details: { path: '/x' },
      retryAfterMs: 5,
    } as const
    const error = new MemoryError('could not write', MemoryErrorCode.WRITE_FAILED, context)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'MemoryError',
      message: 'could not write',
      code: 'MEMORY_WRITE_FAILED',
      ...context,
    })
  })

  it('takes place and cause in the order of the specification as well', () => {
    const cause = new Error('disk full')
    const error = new MemoryError('could not write', MemoryErrorCode.WRITE_FAILED, 'long-term', 'goal', cause)
    expect(error).toMatchObject({ scope: 'long-term', key: 'goal', cause })
    expect(Object.keys(new MemoryError('x', MemoryErrorCode.TIMEOUT, 'working'))).not.toContain('key')
  })

  it('has nothing that was not given, so that a log shows no more', () => {
    const error = new MemoryError('x', MemoryErrorCode.TIMEOUT, { key: 'goal' })
    expect(Object.keys(error).sort()).toEqual(['code', 'key', 'name'])
    expect(Object.hasOwn(error, 'cause')).toBe(false)
  })
})

describe('isMemoryError', () => {
  it('knows the errors of another copy of this package', () => {
    const foreign = Object.assign(new Error('x'), {
      code: MemoryErrorCode.CONFLICT,
      [Symbol.for('recall.MemoryError')]: true,
    })
    expect(isMemoryError(foreign)).toBe(true)
    expect(isMemoryError(foreign, MemoryErrorCode.CONFLICT)).toBe(true)
    expect(isMemoryError(foreign, MemoryErrorCode.CLOSED)).toBe(false)
  })

  it('knows nothing else', () => {
    for (const other of [new Error('x'), null, undefined, 'MEMORY_CONFLICT', { code: 'MEMORY_CONFLICT' }]) {
      expect(isMemoryError(other)).toBe(false)
    }
  })
})

describe('errorStatus', () => {
  it('has a row for every code and an HTTP error in each', () => {
    expect(Object.keys(errorStatus).sort()).toEqual(Object.values(MemoryErrorCode).sort())
    for (const { status } of Object.values(errorStatus)) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(600)
    }
  })

  it('calls retryable what a second try can mend', () => {
    const retryable = Object.entries(errorStatus).filter(([, row]) => row.retryable)
    expect(retryable.map(([code]) => code)).toEqual([
      'MEMORY_TIMEOUT',
      'MEMORY_RATE_LIMITED',
      'MEMORY_UNAVAILABLE',
    ])
  })
})
