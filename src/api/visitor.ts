/**
 * What a request says of the browser that sends it (D61): its session's cookie, whence it comes, and whether
 * a page of the service's own sends it.
 */
import type { FastifyRequest } from 'fastify'
import { accountOf } from '../accounts/token.ts'
import { isLoopbackName } from '../config.ts'
import { Refusal } from '../errors.ts'
import type { Visitor as SignInVisitor } from '../sign-in/sign-in.ts'
import type { Answer } from './answer.ts'
import { networkOf } from './network.ts'

export type Visitor = SignInVisitor & {
  /** the service as the browser calls it, such as https://crm.example.com */
  readonly origin: string
  /** the value of a cookie of the service */
  cookie(name: CookieName): string | null
  /** A header that keeps a cookie for so many seconds; 0 makes the browser forget it. */
  setCookie(name: CookieName, value: string, seconds: number): string
}

export type CookieName = 'session' | 'openid'

/** A browser keeps the cookie as long as an unused session lasts. */
export const sessionSeconds = 14 * 86_400

/** `publicUrl`: the origin of the service, where it is set; else it is what the request calls it. */
export function visitorOf(request: FastifyRequest, publicUrl: string | null): Visitor {
  const { headers, ip } = request
  const host = headers.host ?? ''
  const isHere = isLoopbackName(host.replace(/:\d+$/, ''))
  const origin = publicUrl ?? `${isHere ? 'http' : 'https'}://${host}`
  const isSecure = origin.startsWith('https:')
  // Browsers take a cookie of this prefix only from the host itself, so that no other host can plant one.
  const fullName = (name: CookieName) => `${isSecure ? '__Host-' : ''}dealwright_${name}`
  const cookie = (name: CookieName) => cookieOf(headers.cookie ?? '', fullName(name))
  const session = cookie('session')
  return {
    address: ip,
    network: networkOf(ip),
    requestId: request.id,
    userAgent: headers['user-agent']?.slice(0, 500) ?? null,
    session: session !== null && accountOf('session', session) !== null ? session : null,
    origin,
    cookie,
    setCookie: (name, value, seconds) =>
      `${fullName(name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  }
}

/** An answer that sets the session's cookie. */
export function withCookie(answer: Answer, visitor: Visitor, value: string, seconds: number): Answer {
  const cookie = visitor.setCookie('session', value, seconds)
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
 * Throws `forbidden` for a write that another site may have made a browser send. A write with a cookie must
 * say that it comes from the service's own pages; one without is judged if it says where it comes from.
 */
export function refuseOtherSites({ method, headers }: FastifyRequest, visitor: Visitor): void {
  if (reads.includes(method)) return
  const { 'sec-fetch-site': site, origin } = headers
  if (site === undefined && origin === undefined && visitor.session === null) return
  const isOwn =
    site !== undefined ? site === 'same-origin' || site === 'none' : isOrigin(origin, visitor.origin)
  if (isOwn) return
  // A browser that came by plain http says so, and no more.
  if (site === undefined && isOrigin(origin?.replace(/^http:/, 'https:'), visitor.origin))
    throw new Refusal(
      'forbidden',
      `Over the network the service is used by https: alone. Put TLS in front of it and open ${visitor.origin}.`,
    )
  throw new Refusal(
    'forbidden',
    'A browser may write only from the pages of the service itself: the request must have "Sec-Fetch-Site: same-origin", or the service as its Origin. Behind a proxy that changes Host, set PUBLIC_URL.',
  )
}

function isOrigin(sent: string | undefined, own: string): boolean {
  return (
    sent !== undefined &&
    URL.canParse(sent) &&
    URL.canParse(own) &&
    new URL(sent).origin === new URL(own).origin
  )
}

/** A name or an address of RFC 3986 §3.2.2, and a port. */
const host = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/**
 * Throws `malformed_request` where Host is none (RFC 9110 §7.2), or is sent twice (RFC 9112 §3.2). HTTP/1.0
 * needs no Host.
 */
export function refuseWrongHost({ headers, raw }: FastifyRequest): void {
  const names = raw.rawHeaders.filter((_, index) => index % 2 === 0)
  if (names.filter(name => name.toLowerCase() === 'host').length > 1)
    throw new Refusal('malformed_request', 'Host must be sent once.')
  if (headers.host === undefined || host.test(headers.host)) return
  throw new Refusal('malformed_request', 'Host must be a name or an address, with or without a port.')
}
