import { isIPv6 } from 'node:net'

/**
 * What limits of an address count: of IPv6 the network, since whoever has one address there has 2^64 of them.
 *
 * @returns an IPv4 address, or the first 64 bits of an IPv6 address; anything else as it is
 */
export function networkOf(address: string): string {
  const embedded = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (embedded) return embedded
  const plain = address.split('%')[0] as string
  if (!isIPv6(plain)) return address
  const [left = '', right] = plain.split('::')
  const groups = left === '' ? [] : left.split(':')
  const tail = right ? right.split(':') : []
  // An IPv4 address at the end stands for two groups.
  const held = groups.length + tail.length + (tail.at(-1)?.includes('.') ? 1 : 0)
  const zeros = right === undefined ? [] : Array.from({ length: 8 - held }, () => '0')
  const all = [...groups, ...zeros, ...tail].slice(0, 4)
  return `${all.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
