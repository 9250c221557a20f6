/** A client that sends raw bytes, as no proper HTTP client would. */
import { connect, type Socket } from 'node:net'

export type RawClient = {
  readonly socket: Socket
  send(text: string | Buffer): void
  /** Everything received so far. */
  answered(): string
  /** Everything received, once the service has closed the connection. */
  readonly ended: Promise<string>
}

/** Connects to a service. The connection ends when the service closes it. */
export async function rawClient(url: string, from?: string): Promise<RawClient> {
  const { port, hostname } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, ...(from ? { localAddress: from } : {}) })
  let answer = ''
  socket.on('data', bytes => {
    answer += bytes
  })
  const ended = new Promise<string>(resolve => {
    socket.on('end', () => resolve(answer)).on('close', () => resolve(answer))
  })
  // Bytes sent to a connection that the service has closed.
  socket.on('error', () => {})
  await new Promise((resolve, reject) => void socket.once('connect', resolve).once('error', reject))
  return { socket, send: text => void socket.write(text), answered: () => answer, ended }
}

/** The head of a request with a body, as text. */
export function head(method: string, path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: 'x', 'content-type': 'application/json', ...headers })
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
}

/** The code of the problem in an answer. */
export function codeOf(answer: string): number {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).code
}
