import { isIPv6 } from 'node:net'

/** Some proxies add the port, which differs with each connection of a caller. */
const withoutPort = (address: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address

/**
 * The key under which requests from an address are counted: for IPv6 the /64 network, because whoever has one address
 * in it has all 2^64 of them.
 *
 * @param named an address, as a connection or a proxy names it
 * @returns an IPv4 address unchanged, or the first 64 bits of an IPv6 address; any other text unchanged
 */
export function networkOf(named: string): string {
  const address = withoutPort(named)
  const embedded = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (embedded) return embedded
  const plain = address.split('%')[0] as string
  if (!isIPv6(plain)) return address
  const [left = '', right] = plain.split('::')
  const groups = left === '' ? [] : left.split(':')
  const tail = right ? right.split(':') : []
  // An IPv4 address at the end stands for two groups.
  const held = groups.length + tail.length + (tail.at(-1)?.includes('.') ? 1 : 0)
  const zeros = Array.from({ length: 8 - held }, () => '0')
  const all = [...groups, ...zeros, ...tail].slice(0, 4)
  return `${all.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
