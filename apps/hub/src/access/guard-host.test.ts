import { expect, it } from 'vitest'
import { isLoopback, urlOf } from './guard-host.ts'

it('writes an IPv6 address into a URL in brackets', () => {
  expect(urlOf('::1', 8787)).toBe('http://[::1]:8787')
  expect(urlOf('127.0.0.1', 80)).toBe('http://127.0.0.1:80')
})

it('names an address that can be opened of a server that listens on all of its machine', () => {
  expect(urlOf('0.0.0.0', 8787)).toBe('http://127.0.0.1:8787')
  expect(urlOf('::', 8787)).toBe('http://[::1]:8787')
})

it('knows the hosts under which only this machine reaches a server', () => {
  const hosts = ['localhost', '127.0.0.1', '::1', '0.0.0.0', '::', '192.0.2.1']
  expect(hosts.filter(isLoopback)).toEqual(['localhost', '127.0.0.1', '::1'])
})
