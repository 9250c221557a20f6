/**
 * Reverse proxies in front of the service (D151): only those that the operator names may say by X-Forwarded-*
 * who the client is, and how it reached them.
 */
import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** True for the address of a named proxy. */
export type ProxyTest = (address: string) => boolean

/** `named`: addresses, and networks such as 10.0.0.0/8. */
export function proxyTest(named: readonly string[]): ProxyTest {
  const list = new BlockList()
  for (const one of named) {
    const [address, bits] = one.split('/') as [string, string | undefined]
    const family = familyOf(address)
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  // It matches an IPv4 address in the form of IPv6, too.
  return address => isIP(address) > 0 && list.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** The client's address, as named proxies forward it. A proxy that forwards no address is the client. */
export function addressOf({ ip, raw }: FastifyRequest): string {
  return isIP(ip) ? ip : (raw.socket.remoteAddress ?? '')
}
