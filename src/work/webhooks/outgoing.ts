/**
 * Outgoing requests: to webhooks (D72), and for documents that programs name (D170). The host is resolved
 * once, each of its addresses is checked, and the connection goes to exactly these. This prevents DNS
 * rebinding. No redirects; limited time and size. Knows no webhook.
 */
import { lookup, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { publish } from '../../diagnostics.ts'
import type { Traces } from '../../tracing/tracing.ts'
import { isPublic, literalOf } from './address.ts'

export type OutgoingOptions = {
  /** true if private addresses are allowed, too */
  readonly allowPrivate: boolean
  /** host → its addresses; default: the system's name servers */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** timeout of a request, including its response */
  readonly timeoutMs?: number
  /** traces the requests to webhooks (D169); null: none */
  readonly traces?: Traces | null
}

export type OutgoingDelivery = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text */
  readonly body: string
  /** attempts before this one */
  readonly tries: number
  /** header that carries on the trace of the request that wrote the event (D169); null: none */
  readonly traceparent: string | null
}

/** The outcome of an attempt: the part of the response that was read, or an error. */
export type Attempt = {
  readonly status: number | null
  /** null for 2xx */
  readonly error: string | null
  readonly durationMs: number
  /** first kilobyte of the response, as text */
  readonly answer: string | null
}

const timeoutDefaultMs = 10_000
/** Maximum of bytes that are read of a response, and of those that are stored. */
const readBytes = 65_536
const keptBytes = 1024

/** The host of a URL resolves to an address that is not public. */
export class NotPublic extends Error {}

/** The URL does not begin with https://. */
class NotEncrypted extends Error {}

/** Makes requests, over short-lived keep-alive connections. */
export class Outgoing {
  readonly #allowPrivate: boolean
  readonly #resolve: NonNullable<OutgoingOptions['resolve']>
  readonly #timeoutMs: number
  readonly #traces: Traces | null
  readonly #agent: Agent
  #isStopped = false

  constructor({ allowPrivate, resolve, timeoutMs = timeoutDefaultMs, traces = null }: OutgoingOptions) {
    this.#allowPrivate = allowPrivate
    this.#resolve = resolve ?? (allowPrivate ? bySystem : byNameServers)
    this.#timeoutMs = timeoutMs
    this.#traces = traces
    const connect = { lookup: this.#lookup, timeout: timeoutMs, autoSelectFamily: true }
    // One request per connection: one that hangs delays no other.
    this.#agent = new Agent({ connect, pipelining: 1, allowH2: false, maxHeaderSize: 16_384 })
  }

  /**
   * Why a webhook can't have this URL; null if it can, or if its name servers don't respond now: addresses
   * are checked again at each connection.
   */
  async refusalOf(url: URL): Promise<string | null> {
    if (this.#allowPrivate) return null
    if (url.protocol !== 'https:') return 'must begin with https://'
    try {
      const literal = literalOf(url)
      this.#judge(literal ? [literal] : await this.#resolve(url.hostname))
      return null
    } catch (error) {
      if (error instanceof NotPublic) return 'must lead to a public address'
      const { code } = error as NodeJS.ErrnoException
      return code === 'ENOTFOUND' || code === 'ENODATA' ? 'names a host that has no address' : null
    }
  }

  /** Posts a delivery. Never throws; null if the service stops before the response. */
  async post({ url, headers, body, tries, traceparent }: OutgoingDelivery): Promise<Attempt | null> {
    const begun = performance.now()
    const span = this.#traces?.beginDelivery(traceparent, tries)
    // No signal that lives longer than the attempt: Node.js 20 keeps what is derived from it.
    const ended = AbortSignal.timeout(this.#timeoutMs)
    const attempt = (part: Omit<Attempt, 'durationMs'>) => {
      const ms = performance.now() - begun
      span?.end(part.status, part.error)
      publish('webhook-attempt', { outcome: part.error === null ? 'delivered' : 'failed', ms })
      return { ...part, durationMs: Math.round(ms) }
    }
    let status: number | null = null
    try {
      this.#judgeUrl(new URL(url))
      const trace = span ? { traceparent: span.traceparent } : {}
      const all = {
        ...headers,
        ...trace,
        'content-type': 'application/json',
        'user-agent': 'Dealwright-Webhooks/1',
      }
      const options = { dispatcher: this.#agent, method: 'POST', headers: all, body, signal: ended } as const
      const reply = await request(url, options)
      status = reply.statusCode
      const answer = await begunText(reply.body)
      return attempt({ status, error: errorOf(status), answer })
    } catch (error) {
      if (this.#isStopped) {
        span?.end(null, 'The service stopped.')
        return null
      }
      return attempt({ status, error: this.#reasonOf(error, ended), answer: null })
    }
  }

  /**
   * Reads a document of at most `bytesMax` bytes. Throws NotPublic, an error of the connection, or one with a
   * message that says why there is no such document.
   */
  async read(url: URL, bytesMax: number): Promise<string> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    this.#judgeUrl(url)
    const headers = { accept: 'application/json', 'user-agent': 'Dealwright/1' }
    const reply = await request(url, { dispatcher: this.#agent, method: 'GET', headers, signal })
    const error = errorOf(reply.statusCode)
    if (error) {
      // An unread body that is destroyed emits an error, which would end the process.
      reply.body.on('error', () => {}).destroy()
      throw new Error(error)
    }
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > bytesMax) throw new Error(`The document has more than ${bytesMax} bytes.`)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#agent.destroy()
  }

  readonly #lookup: LookupFunction = (host, { all }, found) => {
    this.#resolve(host).then(
      addresses => {
        try {
          this.#judge(addresses)
        } catch (error) {
          return found(error as Error, [])
        }
        const families = addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
        if (all) found(null, families)
        else found(null, families[0]!.address, families[0]!.family)
      },
      error => found(error, []),
    )
  }

  /** Throws NotEncrypted, or NotPublic for an address in the URL; names are judged as they are looked up. */
  #judgeUrl(url: URL): void {
    if (!this.#allowPrivate && url.protocol !== 'https:') throw new NotEncrypted()
    const literal = literalOf(url)
    if (literal) this.#judge([literal])
  }

  /** Throws NotPublic. One address that is not public disqualifies the whole host. */
  #judge(addresses: readonly string[]): void {
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    if (!this.#allowPrivate && !addresses.every(isPublic)) throw new NotPublic()
  }

  #reasonOf(error: unknown, { reason }: AbortSignal): string {
    if (error instanceof NotPublic) return 'The address is not public.'
    if (error instanceof NotEncrypted) return 'The address does not begin with https://.'
    if ((reason as Error | undefined)?.name === 'TimeoutError')
      return `There was no whole answer within ${this.#timeoutMs / 1000} s.`
    const { code = 'unknown' } = error as { code?: string }
    return reasons[code] ?? `The request failed: ${code}.`
  }
}

/** Messages for the most frequent errors. */
const reasons: { readonly [code: string]: string } = {
  ENOTFOUND: 'The host has no address.',
  ENODATA: 'The host has no address.',
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection.',
  UND_ERR_SOCKET: 'The receiver closed the connection.',
  UND_ERR_CONNECT_TIMEOUT: 'The receiver could not be reached.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too long.',
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `Redirects are not followed (${status}).`
  return `The receiver answered ${status}.`
}

/** The beginning of a response. After `readBytes` its connection is closed. */
async function begunText(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    if (bytes < keptBytes) kept.push(chunk)
    bytes += chunk.length
    if (bytes >= readBytes) break
  }
  // A truncated character is dropped; PostgreSQL takes no NUL.
  const text = new TextDecoder().decode(Buffer.concat(kept).subarray(0, keptBytes), { stream: true })
  return text.replaceAll('\0', '')
}

/** Resolves like other programs on this machine: for private receivers. */
async function bySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/**
 * Resolves by DNS queries. They are asynchronous: `lookup` would block one of libuv's four threads, on which
 * others depend, while a name server does not respond.
 */
async function byNameServers(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = found.flatMap(one => (one.status === 'fulfilled' ? one.value : []))
  const failed = found.find(one => one.status === 'rejected')
  if (addresses.length === 0 && failed) throw failed.reason
  return addresses
}

/** Reasons for a delivery that was not sent. */
export const unseen = unsent('The user of the webhook no longer sees the record.')
export const gone = unsent('The event is no longer kept.')

function unsent(error: string): Attempt {
  return { status: null, error, durationMs: 0, answer: null }
}
