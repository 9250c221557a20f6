/**
 * The client of a request (D61): its session's cookie, its address, and protection against cross-site
 * request forgery.
 */
import type { FastifyRequest } from 'fastify'
import type { ClientInfo } from '../accounts/sign-in/sign-in.ts'
import { accountOf } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'
import { isLoopbackName } from '../setting-values.ts'
import type { Answer } from './answer.ts'
import { traceparentOf } from './observe-requests.ts'
import { addressOf } from './proxies.ts'

export type Client = ClientInfo & {
  /** origin of the service as the browser names it, such as https://crm.example.com */
  readonly origin: string
  /** the value of a cookie of the service */
  cookie(name: CookieName): string | null
  /** A Set-Cookie header with this Max-Age in seconds; 0 deletes the cookie. */
  setCookie(name: CookieName, value: string, seconds: number): string
}

export type CookieName = 'session' | 'openid'

/** The cookie lives as long as an unused session. */
export const sessionSeconds = 14 * 86_400

/** `publicUrl`: the configured origin of the service; null: the host of the request. */
export function clientOf(request: FastifyRequest, publicUrl: string | null): Client {
  const { headers, host, protocol } = request
  const ip = addressOf(request)
  // Only a named proxy makes it https: the service has no TLS of its own.
  const isHere = isLoopbackName(host.replace(/:\d+$/, '')) && protocol !== 'https'
  const origin = publicUrl ?? `${isHere ? 'http' : 'https'}://${host}`
  const isSecure = origin.startsWith('https:')
  // Browsers accept a cookie of this prefix only from the host itself, so no other host can plant one.
  const fullName = (name: CookieName) => `${isSecure ? '__Host-' : ''}dealwright_${name}`
  const cookie = (name: CookieName) => cookieOf(headers.cookie ?? '', fullName(name))
  const session = cookie('session')
  return {
    address: ip,
    network: networkOf(ip),
    requestId: request.id,
    traceparent: traceparentOf(request),
    userAgent: headers['user-agent']?.slice(0, 500) ?? null,
    session: session !== null && accountOf('session', session) !== null ? session : null,
    origin,
    cookie,
    setCookie: (name, value, seconds) =>
      `${fullName(name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  }
}

/** A response that sets the session's cookie. */
export function withCookie(answer: Answer, client: Client, value: string, seconds: number): Answer {
  const cookie = client.setCookie('session', value, seconds)
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } }
}

function cookieOf(header: string, name: string): string | null {
  const pair = header
    .split(';')
    .map(text => text.trim())
    .find(text => text.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) || null
}

const reads = ['GET', 'HEAD', 'OPTIONS']

/**
 * Prevents cross-site request forgery: throws `forbidden` for a write that may come from another site. A
 * write with a cookie must name one of the service's own pages as its source; one without is checked if it
 * names its source.
 */
export function refuseOtherSites({ method, headers }: FastifyRequest, client: Client): void {
  if (reads.includes(method)) return
  const { 'sec-fetch-site': site, origin } = headers
  if (site === undefined && origin === undefined && client.session === null) return
  const isOwn =
    site !== undefined ? site === 'same-origin' || site === 'none' : isOrigin(origin, client.origin)
  if (isOwn) return
  // Over plain http a browser sends Origin only.
  if (site === undefined && isOrigin(origin?.replace(/^http:/, 'https:'), client.origin))
    throw new Refusal(
      'forbidden',
      `Over the network the service is used by https: alone. Put TLS in front of it and open ${client.origin}.`,
    )
  const message =
    'A browser may write only from the pages of the service itself: the request must have "Sec-Fetch-Site: same-origin", or the service as its Origin. Behind a proxy that changes Host, set PUBLIC_URL.'
  throw new Refusal('forbidden', message)
}

function isOrigin(sent: string | undefined, own: string): boolean {
  return (
    sent !== undefined &&
    URL.canParse(sent) &&
    URL.canParse(own) &&
    new URL(sent).origin === new URL(own).origin
  )
}

/** A host name or an address of RFC 3986 §3.2.2, with an optional port. */
const host = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/**
 * Headers of one value. Of most of them Node.js keeps the first and drops the others in silence; a proxy in
 * front may have judged another.
 */
const singleHeaders = [
  ...['Host', 'Authorization', 'X-Api-Key', 'Content-Type', 'Idempotency-Key', 'Origin'],
  ...['Sec-Fetch-Site', 'Last-Event-ID', 'Dealwright-Seq'],
]

/** Some that the pattern takes, such as `%` or a port of 99999, make no address. */
const isHost = (text: string) => host.test(text) && URL.canParse(`http://${text}`)

/**
 * Throws `malformed_request` if a header of one value is repeated (RFC 9110 §5.3), or Host is invalid
 * (RFC 9110 §7.2). HTTP/1.0 needs no Host.
 */
export function refuseWrongHeaders(request: FastifyRequest): void {
  const { headers, raw } = request
  const repeated = singleHeaders.find(name => (raw.headersDistinct[name.toLowerCase()]?.length ?? 0) > 1)
  if (repeated) throw new Refusal('malformed_request', `${repeated} must be sent once.`)
  if (headers.host !== undefined && !isHost(headers.host))
    throw new Refusal('malformed_request', 'Host must be a name or an address, with or without a port.')
  // Differs from Host if a named proxy forwards another.
  if (request.host !== '' && !isHost(request.host))
    throw new Refusal(
      'malformed_request',
      'X-Forwarded-Host must be a name or an address, with or without a port.',
    )
}

/**
 * An IPv4 address as it stands; of an IPv6 address the first 64 bits, the usual assignment of one customer.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head, tail] = plain.split('::').map(part => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: 8 - head!.length - tail.length }, () => '0') : []
  return [...head!, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')
}
