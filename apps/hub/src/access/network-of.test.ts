import { expect, it } from 'vitest'
import { networkOf } from './network-of.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['1::203.0.113.7', '1:0:0:0::/64'],
  ['unknown', 'unknown'],
])('counts %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
