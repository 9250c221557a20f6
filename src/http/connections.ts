/**
 * Limits the cost of a connection before its token is known (D107): the number of connections, the time for a
 * request to arrive, and the end of a connection whose request is refused before it is read whole.
 */
import { randomUUID } from 'node:crypto'
import {
  type IncomingMessage,
  maxHeaderSize,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Limits } from '../config.ts'
import { publish } from '../diagnostics.ts'
import { type ErrorSlug, Refusal } from '../errors.ts'
import { problemAnswer, rawAnswer } from './answer.ts'
import { arriving, hasBody } from './body.ts'
import { networkOf } from './client.ts'
import type { ProxyTest } from './proxies.ts'

/** The timeout also limits how long a client may pause while it reads its response. */
export type ConnectionLimits = Pick<
  Limits,
  'maxConnections' | 'maxConnectionsPerAddress' | 'requestTimeoutMs'
>

type ConnectionOptions = {
  readonly limits: ConnectionLimits
  /** connections of named proxies have no limit per network: they carry those of many clients */
  readonly isProxy: ProxyTest
  /** takes a warning if the limits are reached, at most once a minute */
  readonly say: (line: string) => void
}

/** After a refusal: time and bytes that a client may still send, so that it gets to read the reason. */
const [lingerMs, lingerBytes] = [5000, 4_194_304]
const sayAgainMs = 60_000
const tookTooLong = 'ERR_HTTP_REQUEST_TIMEOUT'

/**
 * Node's settings for requests that must arrive whole within `limitMs`. The time for the head must be equal:
 * if it were longer, Node would swap the two.
 */
export function arrivalTimes(limitMs: number): ServerOptions {
  return {
    requestTimeout: limitMs,
    headersTimeout: limitMs,
    connectionsCheckingInterval: Math.ceil(limitMs / 15),
  }
}

/**
 * The connections of a server. One connection too many replaces the oldest connection without a valid token.
 * If there is none, the new one gets a 503.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #isProxy: ProxyTest
  readonly #say: (line: string) => void
  /** connection → its open responses */
  readonly #open = new Map<Socket, Set<ServerResponse>>()
  /** connections with an upload in progress */
  readonly #receiving = new Set<Socket>()
  readonly #ofNetwork = new Map<string, number>()
  /** connections without a valid token so far, the oldest first, with their networks */
  readonly #strangers = new Map<Socket, string>()
  #saidAt = Number.NEGATIVE_INFINITY

  /** `server` does not listen yet. */
  constructor(server: Server, { limits, isProxy, say }: ConnectionOptions) {
    this.#limits = limits
    this.#isProxy = isProxy
    this.#say = say
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const answers = this.#open.get(socket)
      answers?.add(response)
      response.once('close', () => answers?.delete(response))
    })
    // An Expect header that Node.js does not know is ignored: its own refusal would have no body.
    server.on('checkExpectation', (...request) => server.emit('request', ...request))
    // A client that waits for "100 Continue" gets it when the body is read. A request that is refused by its
    // head sends no body.
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      request.once('resume', () => {
        if (!response.headersSent) response.writeContinue()
      })
      server.emit('request', request, response)
    })
  }

  /** Marks a connection as trusted after a valid token. It is not closed to make room for others. */
  trust(socket: Socket): void {
    this.#strangers.delete(socket)
  }

  /** The bytes of an upload: it may take longer to arrive than the limit, as long as bytes keep coming. */
  receive(body: Readable, socket: Socket, response: ServerResponse): AsyncIterable<Uint8Array> {
    this.#receiving.add(socket)
    response.once('close', () => this.#receiving.delete(socket))
    return arriving(body, this.#limits.requestTimeoutMs)
  }

  /**
   * Must be called before a response is sent. Limits the time for the client to read it. Unless the request
   * was read whole, it is the connection's last response, as the rest is never parsed.
   */
  answer(request: IncomingMessage, response: ServerResponse): void {
    response.setTimeout(this.#limits.requestTimeoutMs)
    if (request.complete || !hasBody(request.headers)) return
    response.setHeader('connection', 'close')
    // Node closes the connection at once. With unread bytes the system would then reset it, and a client that
    // is still sending would lose the response.
    request.socket.destroySoon = () => linger(request.socket)
  }

  /** Responds to a request that can't be parsed or is late, then ends the connection. */
  refuse(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === tookTooLong && this.#receiving.has(socket)) return
    const [first, ...others] = this.#open.get(socket) ?? []
    // With another response under way, the client would take this one for it.
    const isTaken = first && (others.length > 0 || first.headersSent || first.req.complete)
    if (!socket.writable || isTaken) return void socket.destroy()
    const reason = this.#reason(error.code)
    publish('connection-refusal', { error: reason[0] })
    socket.write(refusalText(...reason))
    linger(socket)
  }

  #reason(code: string | undefined): [ErrorSlug, string] {
    switch (code) {
      case 'HPE_HEADER_OVERFLOW':
        return ['header_too_large', `The address and the headers have more than ${maxHeaderSize} bytes.`]
      case tookTooLong:
        return [
          'request_timeout',
          `The request did not arrive within ${this.#limits.requestTimeoutMs / 1000} s.`,
        ]
      default:
        return ['malformed_request', 'What was sent is not a request of HTTP/1.1.']
    }
  }

  #accept(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? '')
    if (!this.#hasRoom(network, this.#isProxy(socket.remoteAddress ?? ''))) {
      publish('connection-refusal', { error: 'overloaded' })
      socket.write(
        refusalText('overloaded', 'Too many connections are open; try again in a moment.', {
          'retry-after': '1',
        }),
      )
      socket.destroySoon()
      return
    }
    this.#open.set(socket, new Set())
    this.#strangers.set(socket, network)
    this.#ofNetwork.set(network, (this.#ofNetwork.get(network) ?? 0) + 1)
    socket.once('close', () => {
      const open = this.#open.get(socket)!
      // Node.js 20 tells the response that is being sent, and none that waits behind it.
      setImmediate(() => {
        for (const response of open) response.destroy().emit('close')
      })
      this.#open.delete(socket)
      this.#strangers.delete(socket)
      const left = this.#ofNetwork.get(network)! - 1
      if (left > 0) this.#ofNetwork.set(network, left)
      else this.#ofNetwork.delete(network)
    })
  }

  #hasRoom(network: string, isProxy: boolean): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.#limits
    if (!isProxy && (this.#ofNetwork.get(network) ?? 0) >= maxConnectionsPerAddress) {
      this.#complain('MAX_CONNECTIONS_PER_ADDRESS', `${maxConnectionsPerAddress} connections from ${network}`)
      return this.#makeRoom(other => other === network)
    }
    if (this.#open.size < maxConnections) return true
    this.#complain('MAX_CONNECTIONS', `${maxConnections} connections`)
    return this.#makeRoom(() => true)
  }

  /** Closes the oldest connection without a valid token in a network of `isMeant`; false if there is none. */
  #makeRoom(isMeant: (network: string) => boolean): boolean {
    for (const [socket, network] of this.#strangers) {
      if (!isMeant(network) || this.#open.get(socket)!.size > 0) continue
      this.#strangers.delete(socket)
      socket.destroy()
      return true
    }
    return false
  }

  #complain(limit: string, what: string): void {
    if (performance.now() - this.#saidAt < sayAgainMs) return
    this.#saidAt = performance.now()
    this.#say(
      `${what} are open, as many as ${limit} allows: those without a valid token make room, and others are refused.`,
    )
  }
}

/** Half-closes the connection: discards what it receives, unparsed, until the client ends or time is over. */
function linger(socket: Socket): void {
  let left = lingerBytes
  socket
    .removeAllListeners('data')
    .on('data', bytes => {
      left -= bytes.length
      if (left < 0) socket.destroy()
    })
    .resume()
    .end()
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}

function refusalText(slug: ErrorSlug, detail: string, headers: Record<string, string> = {}): string {
  const id = randomUUID()
  const all = { ...headers, 'x-request-id': id, connection: 'close' }
  return rawAnswer(problemAnswer(new Refusal(slug, detail, [], all), id))
}
