/**
 * Reverse proxies in front of the service (D151): only those that the operator names may say by X-Forwarded-*
 * who the client is, and how it reached them.
 */
import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback } from '../setting-values.ts'

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

const forwarding = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded']

/**
 * Reports, once, a proxy on this machine that no setting names: the service is public then, and takes itself
 * for one that only this machine reaches.
 */
export function reportUnnamedProxy(app: FastifyInstance, say: (line: string) => void): void {
  let isReported = false
  app.addHook('onRequest', async ({ headers, raw }) => {
    if (isReported || !isOwn(raw.socket.remoteAddress)) return
    if (!forwarding.some(name => headers[name] !== undefined)) return
    isReported = true
    say(
      'A proxy on this machine forwards requests, and no setting names it: all its clients count as one. Without PUBLIC_URL, RATE_LIMIT and WEBHOOK_ALLOW_PRIVATE have the defaults of a service that only this machine reaches. Set PUBLIC_URL and TRUSTED_PROXIES.',
    )
  })
}

function isOwn(address = ''): boolean {
  return isLoopback(address.replace(/^::ffff:/, ''))
}
