/**
 * The requests that the service makes to webhooks' addresses (D72): the host is resolved, each of its
 * addresses is judged, and those are what is connected to; so nothing is gained by a name that changes its
 * mind. No redirects, a limited time, a limited answer. Knows no webhook.
 */
import { lookup, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { isPublic, literalOf } from './address.ts'

export type OutgoingOptions = {
  /** whether addresses that are not public may be reached, too */
  readonly allowPrivate: boolean
  /** host → its addresses; by the system's name servers if not said */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** how long a request may take, until its answer is read */
  readonly timeoutMs?: number
}

/** How an attempt ended: an answer as far as it was read, or why there is none. */
export type Attempt = {
  readonly status: number | null
  /** null where the answer is good: 2xx */
  readonly error: string | null
  readonly durationMs: number
  /** the first kilobyte of the answer, as text */
  readonly answer: string | null
}

const timeoutDefaultMs = 10_000
/** How much of an answer is read, and how much of that is kept. */
const readBytes = 65_536
const keptBytes = 1024

/** The host of an address leads where a webhook may not. */
export class NotPublic extends Error {}

/** Makes requests, over connections that are kept for a moment. */
export class Outgoing {
  readonly #allowPrivate: boolean
  readonly #resolve: NonNullable<OutgoingOptions['resolve']>
  readonly #timeoutMs: number
  readonly #agent: Agent
  readonly #stopped = new AbortController()

  constructor({ allowPrivate, resolve, timeoutMs = timeoutDefaultMs }: OutgoingOptions) {
    this.#allowPrivate = allowPrivate
    this.#resolve = resolve ?? (allowPrivate ? bySystem : byNameServers)
    this.#timeoutMs = timeoutMs
    const connect = { lookup: this.#lookup, timeout: timeoutMs, autoSelectFamily: true }
    // Each request has a connection to itself: one that hangs keeps no other waiting.
    this.#agent = new Agent({ connect, pipelining: 1, allowH2: false, maxHeaderSize: 16_384 })
  }

  /**
   * Why no webhook may have this address; null where it may, or where its name servers do not answer now: it
   * is judged again whenever it is connected to.
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

  /** Posts JSON text. Never throws; null where the service stops before there is an answer. */
  async post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Attempt | null> {
    const begun = performance.now()
    const ended = AbortSignal.any([AbortSignal.timeout(this.#timeoutMs), this.#stopped.signal])
    const attempt = (part: Omit<Attempt, 'durationMs'>) => ({
      ...part,
      durationMs: Math.round(performance.now() - begun),
    })
    let status: number | null = null
    try {
      const literal = literalOf(new URL(url))
      if (literal) this.#judge([literal])
      const all = { ...headers, 'content-type': 'application/json', 'user-agent': 'Dealwright-Webhooks/1' }
      const options = { dispatcher: this.#agent, method: 'POST', headers: all, body, signal: ended } as const
      const reply = await request(url, options)
      status = reply.statusCode
      const answer = await begunText(reply.body)
      return attempt({ status, error: errorOf(status), answer })
    } catch (error) {
      if (this.#stopped.signal.aborted) return null
      return attempt({ status, error: this.#reasonOf(error, ended), answer: null })
    }
  }

  /** Ends the requests under way, and any that would begin. */
  async stop(): Promise<void> {
    this.#stopped.abort()
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

  /** Throws NotPublic. A host that has one address that is not public is not reached by its others. */
  #judge(addresses: readonly string[]): void {
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    if (!this.#allowPrivate && !addresses.every(isPublic)) throw new NotPublic()
  }

  #reasonOf(error: unknown, { reason }: AbortSignal): string {
    if (error instanceof NotPublic) return 'The address is not public.'
    if ((reason as Error | undefined)?.name === 'TimeoutError')
      return `There was no whole answer within ${this.#timeoutMs / 1000} s.`
    const { code = 'unknown' } = error as { code?: string }
    return reasons[code] ?? `The request failed: ${code}.`
  }
}

/** What goes wrong most, in words. */
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

/** What an answer begins with. More than `readBytes` are not read: its connection ends. */
async function begunText(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    if (bytes < keptBytes) kept.push(chunk)
    bytes += chunk.length
    if (bytes >= readBytes) break
  }
  // A letter that is cut in the middle is left out; PostgreSQL takes no NUL.
  const text = new TextDecoder().decode(Buffer.concat(kept).subarray(0, keptBytes), { stream: true })
  return text.replaceAll('\0', '')
}

/** As other programs on this machine resolve it: for receivers near by. */
async function bySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/**
 * By asking the name servers. A name whose servers do not answer waits by itself: `lookup` would keep one of
 * the process's four threads waiting, on which others depend.
 */
async function byNameServers(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = found.flatMap(one => (one.status === 'fulfilled' ? one.value : []))
  const failed = found.find(one => one.status === 'rejected')
  if (addresses.length === 0 && failed) throw failed.reason
  return addresses
}
