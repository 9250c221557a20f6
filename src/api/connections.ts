/**
 * What a connection may cost before anybody is known (D107): how many there may be, how long a request may
 * take to arrive, and how a connection ends whose request is refused before all of it was read.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorSlug, Refusal } from '../errors.ts'
import { problemAnswer, rawAnswer } from './answer.ts'
import { hasBody } from './body.ts'
import { networkOf } from './network.ts'

export type ConnectionLimits = {
  /** connections in all, and those of one network */
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** how long a request may take to arrive, and an answer not be read at all */
  readonly requestTimeoutMs: number
}

export type Connections = {
  /**
   * Notes that somebody with a valid token has asked over a connection: it need not make room for others any
   * more.
   */
  trust(socket: Socket): void
  /**
   * To be told of an answer before it is sent. It has to be read in time; and it is the connection's last
   * unless the request was read whole, as nobody will read the rest.
   */
  answer(request: IncomingMessage, response: ServerResponse): void
  /** Answers what is no readable request, or none that has arrived in time; then the connection ends. */
  refuse(error: Error & { code?: string }, socket: Socket): void
}

/**
 * How long and how much a client may still send whose request was refused, so that it gets to reading why.
 */
const [lingerMs, lingerBytes] = [5000, 4_194_304]
const sayAgainMs = 60_000

/**
 * Node's settings for requests that have to arrive whole within `limitMs`. The time for the head has to be
 * the same one: where it is longer, Node takes the two for each other.
 */
export function arrivalTimes(limitMs: number): ServerOptions {
  return {
    requestTimeout: limitMs,
    headersTimeout: limitMs,
    connectionsCheckingInterval: Math.ceil(limitMs / 15),
  }
}

/**
 * Keeps a server that does not listen yet to its limits. A connection too many takes the place of the oldest
 * one over which no valid token has come, and is answered with 503 where there is none. `say` hears of it
 * once a minute.
 */
export function watchConnections(
  server: Server,
  limits: ConnectionLimits,
  say: (line: string) => void,
): Connections {
  const { maxConnections, maxConnectionsPerAddress, requestTimeoutMs } = limits
  /** for each connection the answers that are still to be given over it */
  const open = new Map<Socket, Set<ServerResponse>>()
  const ofNetwork = new Map<string, number>()
  /** connections over which no valid token has come, the oldest first, with their networks */
  const strangers = new Map<Socket, string>()
  let saidAt = Number.NEGATIVE_INFINITY

  const complain = (limit: string, what: string) => {
    if (performance.now() - saidAt < sayAgainMs) return
    saidAt = performance.now()
    say(
      `${what} are open, as many as ${limit} allows: those without a valid token make room, and others are refused.`,
    )
  }
  const makeRoom = (isMeant: (network: string) => boolean): boolean => {
    for (const [socket, network] of strangers) {
      if (!isMeant(network) || open.get(socket)!.size > 0) continue
      strangers.delete(socket)
      socket.destroy()
      return true
    }
    return false
  }
  const hasRoom = (network: string): boolean => {
    if ((ofNetwork.get(network) ?? 0) >= maxConnectionsPerAddress) {
      complain('MAX_CONNECTIONS_PER_ADDRESS', `${maxConnectionsPerAddress} connections from ${network}`)
      return makeRoom(other => other === network)
    }
    if (open.size < maxConnections) return true
    complain('MAX_CONNECTIONS', `${maxConnections} connections`)
    return makeRoom(() => true)
  }

  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '')
    if (!hasRoom(network)) {
      socket.write(
        refusalText('overloaded', 'Too many connections are open; try again in a moment.', {
          'retry-after': '1',
        }),
      )
      socket.destroySoon()
      return
    }
    open.set(socket, new Set())
    strangers.set(socket, network)
    ofNetwork.set(network, (ofNetwork.get(network) ?? 0) + 1)
    socket.once('close', () => {
      open.delete(socket)
      strangers.delete(socket)
      const left = ofNetwork.get(network)! - 1
      if (left > 0) ofNetwork.set(network, left)
      else ofNetwork.delete(network)
    })
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const answers = open.get(socket)
    answers?.add(response)
    response.once('close', () => answers?.delete(response))
  })
  // Asked for when it is wanted, not before: what is refused at its head sends no body.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    server.emit('request', request, response)
  })

  return {
    trust: socket => void strangers.delete(socket),
    answer(request, response) {
      response.setTimeout(requestTimeoutMs)
      if (request.complete || !hasBody(request.headers)) return
      response.setHeader('connection', 'close')
      // Node closes it at once. With bytes unread the system then resets it, and who is still sending loses
      // the answer.
      request.socket.destroySoon = () => linger(request.socket)
    },
    refuse(error, socket) {
      const [first, ...others] = open.get(socket) ?? []
      // Under way is an answer that this one would be taken for.
      const isTaken = first && (others.length > 0 || first.headersSent || first.req.complete)
      if (!socket.writable || isTaken) return void socket.destroy()
      const slug = {
        HPE_HEADER_OVERFLOW: 'header_too_large',
        ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
      } as const
      socket.write(
        refusalText(
          slug[error.code as keyof typeof slug] ?? 'malformed_request',
          'The request could not be read.',
        ),
      )
      linger(socket)
    },
  }
}

/** Sends no more. What is received is dropped, unparsed, until the client ends it too or has had its time. */
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
  return rawAnswer(
    problemAnswer(new Refusal(slug, detail, [], { ...headers, connection: 'close' }), randomUUID()),
  )
}
