/**
 * Prevents server-side request forgery by webhooks (D72): only public addresses of single hosts are allowed,
 * never the service itself, its network, or the cloud's own services. Pure.
 */
import { BlockList, isIP } from 'node:net'

/** Addresses that IANA's registries reserve, and a cloud's own address. */
const special: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local: clouds serve a machine's credentials here.
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

/** Reserved ranges within the global unicast addresses, 2000::/3. */
const special6: readonly (readonly [address: string, bits: number])[] = [
  // Protocols, with Teredo, which tunnels to an IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4 tunnels to an IPv4 address.
  ['2002::', 16],
  ['3fff::', 20],
]

const [blocked, hosts] = [new BlockList(), new BlockList()]
for (const [address, bits] of special) blocked.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of special6) blocked.addSubnet(address, bits, 'ipv6')
hosts.addSubnet('2000::', 3, 'ipv6')

/**
 * True if an IP address is a public unicast address. IPv4 addresses embedded in IPv6 are not: mapped
 * (::ffff:127.0.0.1), NAT64 (64:ff9b::7f00:1) or compatible (::127.0.0.1).
 */
export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !blocked.check(address, 'ipv4')
  return family === 6 && hosts.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
}

/** The literal IP address in the host of a URL, without brackets; null for a name. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) ? bare : null
}
