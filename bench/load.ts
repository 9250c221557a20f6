/**
 * A light HTTP/1.1 load generator: keep-alive sockets with one request in flight each. Runs as a process of
 * its own, reads its orders as JSON from the command line and prints its figures as JSON. Anything but a 2xx
 * answer with a body ends the run.
 */
import { connect } from 'node:net'
import { Slice } from './slice.ts'

export type Orders = {
  readonly port: number
  readonly connections: number
  /** seconds of uncounted load before the measured time */
  readonly warmUp: number
  /** seconds of measuring, or until the first answer: zero answers give no ratio */
  readonly seconds: number
  readonly method: string
  /** {id} becomes a random whole number of `ids` */
  readonly path: string
  readonly ids: readonly [from: number, to: number]
  /** {n} becomes another text in each request, so that each request changes the record */
  readonly body: string | null
  /** a random one for each request */
  readonly tokens: readonly string[]
}

export type Figures = {
  readonly count: number
  /** length of the measured time */
  readonly seconds: number
  readonly latencies: readonly number[]
}

const silenceLimitMs = 20_000

async function main(orders: Orders): Promise<void> {
  const measured = new Slice(orders)
  const latencies: number[] = []
  await Promise.all(Array.from({ length: orders.connections }, () => drive(orders, measured, latencies)))
  const figures: Figures = { count: latencies.length, seconds: measured.seconds, latencies }
  process.stdout.write(JSON.stringify(figures))
}

/** One connection. Counts the answers that arrive in the measured time. */
function drive(orders: Orders, measured: Slice, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(orders.port, '127.0.0.1')
    let sentAt = 0
    let answer = Buffer.alloc(0)
    const send = () => {
      sentAt = performance.now()
      socket.write(requestText(orders))
    }
    const fail = (reason: string) => {
      socket.destroy()
      reject(new Error(`${orders.method} ${orders.path}: ${reason}`))
    }
    socket.setNoDelay(true)
    socket.setTimeout(silenceLimitMs, () => fail('no answer'))
    socket.on('error', reject)
    socket.on('close', () => fail('the connection was closed'))
    socket.on('connect', send)
    socket.on('data', chunk => {
      answer = answer.length ? Buffer.concat([answer, chunk]) : chunk
      const { total, isWhole, problem } = progress(answer)
      if (problem) return fail(problem)
      if (!isWhole) return
      if (answer.length > total) return fail('more was answered than asked')
      const now = performance.now()
      if (measured.counts(now)) latencies.push(Math.round((now - sentAt) * 1000) / 1000)
      answer = Buffer.alloc(0)
      if (!measured.isOver(now)) return send()
      resolve()
      socket.destroy()
    })
  })
}

type Progress = { total: number; isWhole: boolean; problem?: string }

function progress(answer: Buffer): Progress {
  const head = answer.indexOf('\r\n\r\n')
  if (head < 0) return { total: 0, isWhole: false }
  const length = Number(/content-length: (\d+)/i.exec(answer.toString('latin1', 0, head))?.[1])
  const total = head + 4 + length
  const isGood = answer[9] === 0x32 && length > 2
  if (!isGood) return { total, isWhole: true, problem: answer.toString('utf8').slice(0, 800) }
  return { total, isWhole: answer.length >= total }
}

let sent = 0

function requestText({ method, path, ids, body, tokens }: Orders): string {
  const id = ids[0] + Math.floor(Math.random() * (ids[1] - ids[0] + 1))
  const text = body?.replaceAll('{n}', `${process.pid}-${++sent}`)
  const content = text
    ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
    : ''
  const token = `Authorization: Bearer ${tokens[Math.floor(Math.random() * tokens.length)]}\r\n`
  return `${method} ${path.replace('{id}', String(id))} HTTP/1.1\r\nHost: localhost\r\n${token}${content}\r\n${text ?? ''}`
}

await main(JSON.parse(process.argv[2]!) as Orders)
