import { MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { asMemoryErrors } from './postgres-errors.ts'

it.each([
  ['53300', /^Postgres takes no more connections: raise its max_connections/],
  ['ECONNREFUSED', /^Postgres cannot be reached/],
  ['25006', /^Postgres takes no writes at the moment/],
])('says of %s what it means', async (code, message) => {
  const failing = () => Promise.reject(Object.assign(new Error('the statement and its parameters'), { code }))
  await expect(asMemoryErrors(MemoryErrorCode.SEARCH_FAILED, failing)).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: expect.stringMatching(message),
    details: { postgres: code },
  })
})
