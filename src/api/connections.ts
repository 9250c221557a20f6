/**
 * Limits what a connection may cost before its token is known (D107): how many connections there may be, how
 * long a request may take to arrive, and how a connection ends whose request is refused before all of it was
 * read.
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
import { type ErrorSlug, Refusal } from '../errors.ts'
import { problemAnswer, rawAnswer } from './answer.ts'
import { hasBody } from './body.ts'
import { networkOf } from './network.ts'
import { arriving } from './upload.ts'

export type ConnectionLimits = {
  /** connections in all, and those of one network */
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** how long a request may take to arrive, and how long a client may read nothing of its answer */
  readonly requestTimeoutMs: number
}

/**
 * How long and how much a client may still send after its request was refused. So it gets to read the reason.
 */
const [lingerMs, lingerBytes] = [5000, 4_194_304]
const sayAgainMs = 60_000
const tookTooLong = 'ERR_HTTP_REQUEST_TIMEOUT'

/**
 * Node's settings for requests that must arrive whole within `limitMs`. The time for the head must be the
 * same: if it were longer, Node would swap the two.
 */
export function arrivalTimes(limitMs: number): ServerOptions {
  return {
    requestTimeout: limitMs,
    headersTimeout: limitMs,
    connectionsCheckingInterval: Math.ceil(limitMs / 15),
  }
}

/**
 * The connections of a server. When there is one too many, it takes the place of the oldest connection over
 * which no valid token has come. Where there is no such connection, the new one is answered with 503.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #say: (line: string) => void
  /** connection → the answers under way on it */
  readonly #open = new Map<Socket, Set<ServerResponse>>()
  /** connections over which a file comes */
  readonly #receiving = new Set<Socket>()
  readonly #ofNetwork = new Map<string, number>()
  /** connections over which no valid token has come, the oldest first, with their networks */
  readonly #strangers = new Map<Socket, string>()
  #saidAt = Number.NEGATIVE_INFINITY

  /** `server` does not listen yet. `say` is told once a minute that the limits are reached. */
  constructor(server: Server, limits: ConnectionLimits, say: (line: string) => void) {
    this.#limits = limits
    this.#say = say
    server.on('connection', (socket: Socket) => this.#accept(socket))
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const answers = this.#open.get(socket)
      answers?.add(response)
      response.once('close', () => answers?.delete(response))
    })
    // A client that waits for "100 Continue" gets it when the body is wanted. A request that is refused by
    // its head sends no body.
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      request.once('resume', () => {
        if (!response.headersSent) response.writeContinue()
      })
      server.emit('request', request, response)
    })
  }

  /**
   * Notes that a request with a valid token came over the connection. It is then not ended to make room for
   * others.
   */
  trust(socket: Socket): void {
    this.#strangers.delete(socket)
  }

  /** The bytes of a file: its request may take longer to arrive than others, as long as something comes. */
  receive(body: Readable, socket: Socket, response: ServerResponse): AsyncIterable<Uint8Array> {
    this.#receiving.add(socket)
    response.once('close', () => this.#receiving.delete(socket))
    return arriving(body, this.#limits.requestTimeoutMs)
  }

  /**
   * To be called before an answer is sent. The client has to read the answer in time. It is the connection's
   * last answer unless the request was read whole, as nobody will read the rest.
   */
  answer(request: IncomingMessage, response: ServerResponse): void {
    response.setTimeout(this.#limits.requestTimeoutMs)
    if (request.complete || !hasBody(request.headers)) return
    response.setHeader('connection', 'close')
    // Node closes it at once. With bytes unread the system then resets it, and a client that is still sending
    // loses the answer.
    request.socket.destroySoon = () => linger(request.socket)
  }

  /** Answers a request that can't be read or has not arrived in time. Then the connection ends. */
  refuse(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === tookTooLong && this.#receiving.has(socket)) return
    const [first, ...others] = this.#open.get(socket) ?? []
    // Another answer is under way, and the client would take this one for it.
    const isTaken = first && (others.length > 0 || first.headersSent || first.req.complete)
    if (!socket.writable || isTaken) return void socket.destroy()
    socket.write(refusalText(...this.#reason(error.code)))
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
    if (!this.#hasRoom(network)) {
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
      this.#open.delete(socket)
      this.#strangers.delete(socket)
      const left = this.#ofNetwork.get(network)! - 1
      if (left > 0) this.#ofNetwork.set(network, left)
      else this.#ofNetwork.delete(network)
    })
  }

  #hasRoom(network: string): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.#limits
    if ((this.#ofNetwork.get(network) ?? 0) >= maxConnectionsPerAddress) {
      this.#complain('MAX_CONNECTIONS_PER_ADDRESS', `${maxConnectionsPerAddress} connections from ${network}`)
      return this.#makeRoom(other => other === network)
    }
    if (this.#open.size < maxConnections) return true
    this.#complain('MAX_CONNECTIONS', `${maxConnections} connections`)
    return this.#makeRoom(() => true)
  }

  /** Ends the oldest connection without a valid token, of a network that is meant; false without one. */
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

/**
 * Ends the sending direction. Drops what is received, unparsed, until the client ends too or its time is
 * over.
 */
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
