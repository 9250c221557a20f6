/**
 * `npm run bench [-- --seconds 5 --turns 2 --deals 100000 --engine postgres,embedded]`: the service over HTTP
 * against the limits of its own database, side by side in one run. Prints ratios; the absolute figures are
 * this machine's and this minute's. See docs/performance.md.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { middle, ownDirectory, sayMachine } from './begin.ts'
import type { DriverOrders } from './driver.ts'
import type { Figures, Orders } from './load.ts'
import { pgbench } from './pgbench.ts'
import { accountTokens, type Case, cases, prepareDeals } from './prepare.ts'
import { ask, startProcess, startService } from './processes.ts'
import { onServer } from './server.ts'
import { type Measured, type Slice, table } from './table.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    turns: { type: 'string', default: '2' },
    deals: { type: 'string', default: '100000' },
    engine: { type: 'string', default: 'postgres,embedded' },
  },
})
const seconds = Number(values.seconds)
const deals = Number(values.deals)
if (!(seconds > 0) || !(deals >= 1000)) throw new Error('--seconds must be above 0, --deals 1000 or more')
const inFlight = 32
/** Cases run in turns, forwards and backwards, so that a slow minute slows all of them. */
const turns = Number(values.turns)
const slice = { warmUp: Math.min(2, seconds) / turns, seconds: seconds / turns }

const directory = ownDirectory()
sayMachine()
await startTimes()
if (values.engine.includes('postgres')) await onServer(benchServer)
if (values.engine.includes('embedded')) await benchEmbedded()

/** Medians of the first and of a later start, from the command to the ready line. */
async function startTimes(): Promise<void> {
  const first: number[] = []
  const later: number[] = []
  for (let time = 0; time < turns * 2 - 1; time++) {
    const env = { DATA_DIR: join(directory, `start-${time}`), SAMPLE_DATA: '1' }
    for (const times of [first, later]) {
      const service = await startService(env)
      times.push(service.seconds)
      await service.stop()
    }
  }
  const line = (name: string, times: number[], aim: number) => {
    const found = middle(times.sort((one, other) => one - other))
    return `${name} ${found.toFixed(1)} s (aim < ${aim} s ${found < aim ? '✓' : '✗'})`
  }
  console.log(
    `Embedded, with sample data: ${line('first start', first, 6)}, ${line('later start', later, 1.5)}`,
  )
}

async function benchServer(url: string): Promise<void> {
  const measured = blank(cases(await prepareDeals({ url }, deals)))
  const plain = await startProcess('bench/plain.ts', { DATABASE_URL: url })
  const service = await startService({
    DATABASE_URL: url,
    DATA_DIR: directory,
    DEALWRIGHT_TOKEN: accountTokens[0]!,
  })
  for (let turn = 0; turn < turns; turn++) {
    for (const { item, ours, alone, hand, limit } of measured) {
      const ways = [
        async () => ours.push(await http(service.url, item, item.path)),
        async () => alone.push(...(await driver({ url }, [item]))),
        async () => hand.push(await http(plain.url, item, item.plainPath)),
        async () => limit.push(...(await underPgbench(url, item))),
      ]
      for (const way of turn % 2 ? ways.reverse() : ways) await way()
    }
  }
  await service.stop()
  await plain.stop()
  console.log(table(`PostgreSQL, ${deals} deals, ${inFlight} in flight, ${seconds} s each`, measured))
  if (measured.every(({ limit }) => limit.length === 0)) console.log('pgbench is not installed here.')
}

/** One process at a time may open it, so service and driver take turns. */
async function benchEmbedded(): Promise<void> {
  const dataDir = join(directory, 'embedded')
  const measured = blank(cases(await prepareDeals({ dataDir }, deals)))
  const ways = [
    async () => {
      const service = await startService({ DATA_DIR: dataDir, DEALWRIGHT_TOKEN: accountTokens[0]! })
      for (const { item, ours } of measured) ours.push(await http(service.url, item, item.path))
      await service.stop()
    },
    async () => {
      // All in one process, as the service is: a fresh engine is slow until its caches are full.
      const slices = await driver(
        { dataDir },
        measured.map(({ item }) => item),
      )
      for (const [index, { alone }] of measured.entries()) alone.push(slices[index]!)
    },
  ]
  for (let turn = 0; turn < turns; turn++) for (const way of turn % 2 ? ways.toReversed() : ways) await way()
  console.log(table(`Embedded, ${deals} deals, ${inFlight} in flight, ${seconds} s each`, measured))
  console.log('\nNeither pgbench nor `pg` can reach the embedded engine: it compares with its driver alone.')
}

function blank(items: readonly Case[]): (Measured & { item: Case })[] {
  return items.map(item => ({
    item,
    name: item.name,
    aims: item.aims,
    ours: [],
    alone: [],
    hand: [],
    limit: [],
  }))
}

function http(url: string, item: Case, path: string): Promise<Figures> {
  const { method, ids, body, accounts } = item
  const tokens = accountTokens.slice(accounts[0] - 1, accounts[1])
  return ask('bench/load.ts', {
    ...{ port: Number(new URL(url).port), connections: inFlight, ...slice, method, path, ids, body, tokens },
  } satisfies Orders)
}

function driver(open: DriverOrders['open'], items: readonly Case[]): Promise<Slice[]> {
  const jobs = items.map(({ statements, ids, accounts }) => ({ statements, ids, accounts }))
  return ask('bench/driver.ts', { open, inFlight, ...slice, jobs } satisfies DriverOrders)
}

async function underPgbench(url: string, { statements, ids, accounts }: Case): Promise<Slice[]> {
  const script = join(directory, 'script.sql')
  const found = await pgbench({
    url,
    script,
    clients: inFlight,
    seconds: slice.seconds,
    statements,
    ids,
    accounts,
  })
  return found ? [found] : []
}
