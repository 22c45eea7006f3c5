import { expect, it } from 'vitest'
import { shortDigest } from './short-digest.ts'

it('is the beginning of the SHA-256 that the standard gives as an example', async () => {
  expect(await shortDigest('abc')).toBe('ba7816bf8f01cfea')
})
