/** Serves the metrics (D150) on a port or a Unix socket of their own, apart from the service's clients. */
import { lstatSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The text of all metrics, and its media type. */
export type MetricsText = { readonly contentType: string; text(): Promise<string> }

export type MetricsServer = {
  /** where the metrics are: a URL, or the path of the socket */
  readonly place: string
  close(): Promise<void>
}

/** `at`: a port on `host`, or the path of a socket. Throws the system's error. */
export async function serveMetrics(
  metrics: MetricsText,
  at: { readonly port: number | string; readonly host: string },
): Promise<MetricsServer> {
  const server = createServer((request, response) => void answer(metrics, request, response))
  server.requestTimeout = 10_000
  server.headersTimeout = 10_000
  const { port, host } = at
  // A killed process leaves its socket.
  if (typeof port === 'string' && lstatSync(port, { throwIfNoEntry: false })?.isSocket()) rmSync(port)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    if (typeof port === 'string') server.listen(port, resolve)
    else server.listen(port, host, resolve)
  })
  return {
    place: typeof port === 'string' ? port : urlOf(server.address() as AddressInfo),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`
}

async function answer(
  { contentType, text }: MetricsText,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const plain = { 'content-type': 'text/plain; charset=utf-8' }
  if (url?.split('?', 1)[0] !== '/metrics') {
    response.writeHead(404, plain).end('The metrics are at /metrics.\n')
    return
  }
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { ...plain, allow: 'GET, HEAD' }).end('Only GET and HEAD.\n')
    return
  }
  try {
    const body = await text()
    response.writeHead(200, { 'content-type': contentType }).end(method === 'HEAD' ? undefined : body)
  } catch {
    response.writeHead(500, plain).end('The metrics could not be read.\n')
  }
}
