/**
 * Which addresses a webhook may reach (D72): the public ones that belong to one host. Whoever can make a
 * webhook must not reach what only the service can reach: itself, its network, or the cloud's own services.
 * Pure.
 */
import { BlockList, isIP } from 'node:net'

/** What IANA's registries don't give to hosts of the public internet, and a cloud's own address. */
const special: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local: clouds tell a machine's credentials here.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, reserved, broadcast.
  ['224.0.0.0', 3],
  // Azure's own services.
  ['168.63.129.16', 32],
]

/** Within the addresses that are given to hosts, 2000::/3. */
const special6: readonly (readonly [address: string, bits: number])[] = [
  // Protocols, Teredo among them, which leads to an IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4: leads to an IPv4 address.
  ['2002::', 16],
  ['3fff::', 20],
]

const [blocked, hosts] = [new BlockList(), new BlockList()]
for (const [address, bits] of special) blocked.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of special6) blocked.addSubnet(address, bits, 'ipv6')
hosts.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an IP address is a public one of one host. Other ways to write an IPv4 address in IPv6 are none:
 * mapped (::ffff:127.0.0.1), by NAT64 (64:ff9b::7f00:1) or compatible (::127.0.0.1).
 */
export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !blocked.check(address, 'ipv4')
  return family === 6 && hosts.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
}

/** The IP address that the host of a URL is written as; null for a name. Brackets are no part of it. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) ? bare : null
}
