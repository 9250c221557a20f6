/**
 * A light HTTP/1.1 load generator: keep-alive sockets with one request in flight each. Runs as a process of its own, reads its orders
 * as JSON from the command line and prints its figures as JSON. Anything but a 2xx answer ends the run.
 */
import { connect } from 'node:net'

export type Orders = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly method: string
  /** one is taken after the other; {id} becomes a random whole number of `ids` */
  readonly path: string
  readonly ids: readonly [from: number, to: number]
  readonly body: string | null
  /** one is taken after the other */
  readonly tokens: readonly string[]
}

export type Figures = { readonly perSecond: number; readonly p50: number; readonly p99: number }

async function main(orders: Orders): Promise<void> {
  const latencies: number[] = []
  const end = performance.now() + orders.seconds * 1000
  const began = performance.now()
  await Promise.all(Array.from({ length: orders.connections }, (_, index) => drive(orders, index, end, latencies)))
  const seconds = (performance.now() - began) / 1000
  latencies.sort((one, other) => one - other)
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? 0
  const figures: Figures = { perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) }
  console.log(JSON.stringify(figures))
}

function drive(orders: Orders, index: number, end: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(orders.port, '127.0.0.1')
    let sentAt = 0
    let count = 0
    let answer = Buffer.alloc(0)
    const send = () => {
      sentAt = performance.now()
      socket.write(requestText(orders, index + count++ * orders.connections))
    }
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.on('connect', send)
    socket.on('data', chunk => {
      answer = answer.length ? Buffer.concat([answer, chunk]) : chunk
      const length = answerLength(answer)
      if (length === null || answer.length < length) return
      const status = answer.toString('latin1', 9, 12)
      if (status[0] !== '2') return reject(new Error(`status ${status}: ${answer.toString('utf8').slice(0, 600)}`))
      latencies.push(performance.now() - sentAt)
      answer = Buffer.alloc(0)
      if (performance.now() < end) return send()
      socket.destroy()
      resolve()
    })
  })
}

function answerLength(answer: Buffer): number | null {
  const head = answer.indexOf('\r\n\r\n')
  if (head < 0) return null
  const length = /content-length: (\d+)/i.exec(answer.toString('latin1', 0, head))
  return length ? head + 4 + Number(length[1]) : null
}

function requestText({ method, path, ids, body, tokens }: Orders, count: number): string {
  const id = ids[0] + Math.floor(Math.random() * (ids[1] - ids[0] + 1))
  const content = body ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` : ''
  const token = tokens.length ? `Authorization: Bearer ${tokens[count % tokens.length]}\r\n` : ''
  return `${method} ${path.replace('{id}', String(id))} HTTP/1.1\r\nHost: localhost\r\n${token}${content}\r\n${body ?? ''}`
}

await main(JSON.parse(process.argv[2]!) as Orders)
