import { expect, it } from 'vitest'
import { urlOf } from './guard-host.ts'

it('writes an IPv6 address into a URL in brackets', () => {
  expect(urlOf('::1', 8787)).toBe('http://[::1]:8787')
  expect(urlOf('127.0.0.1', 80)).toBe('http://127.0.0.1:80')
})
