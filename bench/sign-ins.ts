/**
 * `npm run bench:sign-ins [-- --seconds 8]`: latency of a get beside fifty sign-ins a second, and alone, in
 * turns of one run on the embedded engine. Each sign-in hashes a password (D61). See docs/performance.md.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ownDirectory, sayMachine } from './begin.ts'
import { accountTokens } from './prepare.ts'
import { startService } from './processes.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '8' } } })
const seconds = Number(values.seconds)
const [rounds, askers, signInsASecond] = [3, 4, 50]
const token = accountTokens[0]!
const headers = { authorization: `Bearer ${token}` }

const directory = ownDirectory()
sayMachine()
const { url } = await startService({ DATA_DIR: join(directory, 'data'), DEALWRIGHT_TOKEN: token })
const [alone, beside]: [number[], number[]] = [[], []]
const answered = new Map<number, number>()
let people = 0
for (let round = 0; round < rounds; round++) {
  alone.push(...(await times()))
  const stop = new AbortController()
  const signIns = signInUntil(stop.signal)
  beside.push(...(await times()))
  stop.abort()
  await signIns
}
const [p99, p99Beside] = [alone, beside].map(all => percentile(all, 0.99)) as [number, number]
console.log(`get alone                 p50 ${percentile(alone, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
console.log(
  `get beside the sign-ins   p50 ${percentile(beside, 0.5).toFixed(1)} ms, p99 ${p99Beside.toFixed(1)} ms`,
)
console.log(`p99 beside ÷ alone        ${(p99Beside / p99).toFixed(2)}`)
console.log(`sign-ins by status        ${JSON.stringify(Object.fromEntries(answered))}`)
process.exit()

/** Latencies of gets, in milliseconds, with a few in flight, for some seconds. */
async function times(): Promise<number[]> {
  const found: number[] = []
  const end = performance.now() + seconds * 1000
  const ask = async () => {
    while (performance.now() < end) {
      const began = performance.now()
      await (await fetch(`${url}/rest/api/v1/deal/477`, { headers })).text()
      found.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: askers }, ask))
  return found
}

/** Fifty people a second try to sign in, each with an e-mail of their own and a wrong password. */
async function signInUntil(signal: AbortSignal): Promise<void> {
  const underWay: Promise<void>[] = []
  while (!signal.aborted) {
    const body = JSON.stringify({
      email: `person${people++}@example.com`,
      password: 'four words nobody knows',
    })
    const asked = fetch(`${url}/rest/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    underWay.push(
      asked.then(async reply => {
        await reply.text()
        answered.set(reply.status, (answered.get(reply.status) ?? 0) + 1)
      }),
    )
    await delay(1000 / signInsASecond)
  }
  await Promise.all(underWay)
}

function percentile(all: readonly number[], share: number): number {
  return all.toSorted((one, other) => one - other)[Math.floor(all.length * share)]!
}
