/** A receiver of webhooks: records requests, and answers as a test wants. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { parseJson } from '../../src/json.ts'
import { eventually } from './eventually.ts'

export type Received = {
  readonly path: string
  readonly id: string
  readonly headers: Record<string, string>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what is sent is what the test is about
  readonly body: any
  /** time of receipt, in milliseconds of a monotonic clock */
  readonly at: number
}

export type Answering = (got: Received, response: ServerResponse, request: IncomingMessage) => void

export type Receiver = {
  /** without a trailing slash */
  readonly url: string
  readonly got: Received[]
  /** sets the answer to the next requests */
  answer: Answering
  /** Waits for that number of requests; throws after a minute. */
  until(count: number): Promise<Received[]>
}

/** Answers with a status and a text. */
export function answering(status: number, text = '', headers: Record<string, string> = {}): Answering {
  return (_, response) => {
    response.writeHead(status, headers).end(text)
  }
}

/** Listens on loopback until the test file ends. */
export async function startReceiver(answer: Answering = answering(204)): Promise<Receiver> {
  const got: Received[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', data => {
      text += data
    })
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      const id = headers['webhook-id'] ?? ''
      const one = { path: request.url!, id, headers, text, body: parseJson(text), at: performance.now() }
      got.push(one)
      receiver.answer(one, response, request)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    answer,
    until: async count => {
      await eventually(() => got.length >= count, `${count} deliveries`)
      return got
    },
  }
  return receiver
}

/** Throws unless the signature matches a secret. */
export function verified({ text, headers }: Received, secret: string): void {
  new Webhook(secret).verify(text, headers)
}
