/**
 * `npm run bench:webhooks [-- --events 5000 --seconds 10 --engine postgres,embedded]`: deliveries a second to
 * a receiver on this machine, and the lag from a write to its event: alone, and beside receivers that hang,
 * fail or are slow, in turns of one run. See docs/performance.md.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ownDirectory, sayMachine } from './begin.ts'
import { accountTokens } from './prepare.ts'
import { startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '10' },
    engine: { type: 'string', default: 'postgres,embedded' },
  },
})
const events = Number(values.events)
const seconds = Number(values.seconds)
const inFlight = 16
/** Pause between two writes whose lag is measured. */
const pauseMs = 25
/** A longer lag counts as a lost event, however busy the machine is; so does a longer pause of a replay. */
const longestLagMs = 60_000
/** Number of each kind of bad receiver. */
const badOnes = 4
/** Cases run in turns, so that a slow minute slows all of them. */
const rounds = 3
const token = accountTokens[0]!

const directory = ownDirectory()
sayMachine()
const receivedAt = new Map<number, number>()
const healthy = await receiver((seq, response) => {
  receivedAt.set(seq, performance.now())
  response.writeHead(204).end()
})
const bad = await Promise.all([
  receiver(() => {}),
  receiver((_, response) => void response.writeHead(500).end()),
  receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 5000)),
])
if (values.engine.includes('postgres'))
  await onServer(url => bench('PostgreSQL', { DATABASE_URL: url, DATA_DIR: directory }))
if (values.engine.includes('embedded')) await bench('Embedded', { DATA_DIR: join(directory, 'embedded') })
process.exit()

/** Address of a receiver in this process. */
async function receiver(answer: (seq: number, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', data => pieces.push(data))
    request.on('end', () => answer(JSON.parse(Buffer.concat(pieces).toString()).data.seq, response))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function bench(name: string, env: Record<string, string>): Promise<void> {
  const service = await startService({ ...env, DEALWRIGHT_TOKEN: token, SAMPLE_DATA: '0' })
  // biome-ignore lint/suspicious/noExplicitAny: of the service's answers little is read
  const ask = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(`${service.url}/rest/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const make = (n: string) => ask('POST', 'company', { name: `Company ${n}`, website: 'https://example.com' })
  let made = 0
  const many = async () => {
    while (made < events) await make(String(made++))
  }
  await Promise.all(Array.from({ length: inFlight }, many))
  const asked = { events: ['company.created'] }
  const webhook = (await ask('POST', 'webhook', { ...asked, url: healthy })).data.id
  const perSecond: number[] = []
  for (let round = 0; round < rounds; round++) {
    receivedAt.clear()
    const begun = performance.now()
    await ask('POST', `webhook/${webhook}/replay`, { after: 0 })
    await allReceived()
    perSecond.push(events / ((Math.max(...receivedAt.values()) - begun) / 1000))
  }
  const others: number[] = []
  for (const url of bad)
    for (let n = 0; n < badOnes; n++)
      others.push((await ask('POST', 'webhook', { ...asked, url, is_active: 'No' })).data.id)
  const set = (is_active: string) =>
    Promise.all(others.map(id => ask('PATCH', `webhook/${id}`, { is_active })))
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round++) {
    alone.push(...(await lags(ask, make)))
    await set('Yes')
    beside.push(...(await lags(ask, make)))
    await set('No')
  }
  await service.stop()
  print(name, perSecond, alone, beside)
}

/** Waits for all replayed events. Throws if no further one is received for a long time. */
async function allReceived(): Promise<void> {
  let [received, since] = [0, performance.now()]
  while (receivedAt.size < events) {
    if (receivedAt.size > received) [received, since] = [receivedAt.size, performance.now()]
    if (performance.now() - since > longestLagMs)
      throw new Error(`${events - received} of ${events} replayed events were not received.`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** Lags from the answer to a write to the receipt of its event, in ms, for some seconds. */
async function lags(
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ask: (method: string, path: string) => Promise<any>,
  make: (name: string) => Promise<unknown>,
): Promise<number[]> {
  const { meta } = await ask('GET', 'event?limit=1')
  const answeredAt: number[] = []
  for (const until = performance.now() + (seconds * 1000) / rounds; performance.now() < until; ) {
    await make(`of a lag, ${answeredAt.length}`)
    answeredAt.push(performance.now())
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
  const received = (index: number) => receivedAt.get(meta.last + 1 + index)
  for (const until = performance.now() + longestLagMs; performance.now() < until; ) {
    if (answeredAt.every((_, index) => received(index) !== undefined)) break
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  // An event that never arrives has an infinite lag.
  return answeredAt.map((at, index) => (received(index) ?? Number.POSITIVE_INFINITY) - at)
}

function print(name: string, perSecond: number[], alone: number[], beside: number[]): void {
  const at = (all: number[], part: number) => all.toSorted((a, b) => a - b)[Math.floor(all.length * part)]!
  const middle = at(perSecond, 0.5)
  const ratio = at(beside, 0.99) / at(alone, 0.99)
  console.log(`\n${name}, ${events} events, ${alone.length} and ${beside.length} writes for the lag`)
  console.log(`  deliveries a second  ${middle.toFixed(0)} (aim ≥ 500 ${middle >= 500 ? '✓' : '✗'})`)
  for (const [what, all] of [
    ['lag alone          ', alone],
    [`lag beside ${bad.length * badOnes} bad `, beside],
  ] as const)
    console.log(`  ${what}  p50 ${at(all, 0.5).toFixed(1)} ms, p99 ${at(all, 0.99).toFixed(1)} ms`)
  console.log(`  p99 beside ÷ alone   ${ratio.toFixed(2)} (aim ≤ 2 ${ratio <= 2 ? '✓' : '✗'})`)
}
