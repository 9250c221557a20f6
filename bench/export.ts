/**
 * `npm run bench:export [-- --deals 1000000 --embedded 100000]`: exports of a large account over HTTP, in
 * turns with `COPY (SELECT document …) TO STDOUT` by psql. During an export another client gets single deals
 * one after the other: their latency shows the cost for others. See docs/performance.md.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { makeManyDeals } from '../test/support/many-deals.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { middle, ownDirectory, sayMachine } from './begin.ts'
import { accountTokens } from './prepare.ts'
import { peakOf, type Running, startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    deals: { type: 'string', default: '1000000' },
    embedded: { type: 'string', default: '100000' },
  },
})
const rounds = 2
const path = '/rest/api/v1/deal'
/** Target: JSON lines a second on a server. */
const aim = 50_000

const exports: readonly { readonly name: string; readonly query: string }[] = [
  { name: 'JSON lines', query: 'format=jsonl' },
  { name: 'JSON lines, by title', query: 'format=jsonl&sort=title:asc' },
  { name: 'CSV', query: 'format=csv' },
  { name: 'CSV with names', query: 'format=csv&names=1' },
  { name: 'workbook', query: 'format=xlsx' },
]

type Figures = {
  readonly seconds: number
  readonly bytes: number
  /** milliseconds until the answer began */
  readonly firstMs: number
  /** latencies of the gets meanwhile, sorted */
  readonly gets: readonly number[]
}

const directory = ownDirectory()
sayMachine()
await onServer(url => benchServer(url, Number(values.deals)))
await benchEmbedded(Number(values.embedded))

async function benchServer(url: string, deals: number): Promise<void> {
  await prepare({ url }, deals)
  const service = await startService({
    DATA_DIR: directory,
    DEALWRIGHT_TOKEN: accountTokens[0]!,
    DATABASE_URL: url,
  })
  await measure(`PostgreSQL, ${deals} deals`, service, deals, () => copied(url))
  await service.stop()
}

async function benchEmbedded(deals: number): Promise<void> {
  const dataDir = join(directory, 'data')
  await prepare({ dataDir }, deals)
  const service = await startService({ DATA_DIR: dataDir, DEALWRIGHT_TOKEN: accountTokens[0]! })
  await measure(`Embedded, ${deals} deals`, service, deals, null)
  await service.stop()
}

async function prepare(open: { url?: string; dataDir?: string }, deals: number): Promise<void> {
  const db = await openDatabase({ ...open, ...timeouts(3_600_000), log: line => console.error(line) })
  try {
    await migrate(db)
    await firstStart(db, { now: new Date(), sampleData: true, presetToken: accountTokens[0]!, createSample })
    await makeManyDeals(db, deals)
  } finally {
    await db.close()
  }
}

async function measure(
  title: string,
  service: Running,
  deals: number,
  copy: (() => Promise<number>) | null,
): Promise<void> {
  const measured = exports.map((): Figures[] => [])
  const alone: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [index, { query }] of exports.entries()) measured[index]!.push(await exported(service, query))
    if (copy) alone.push(await copy())
  }
  const copySeconds = alone.length ? middle(alone.sort((one, other) => one - other)) : null
  console.log(`\n${title}; the service's memory was at most ${peakOf(service)} MB\n`)
  if (copySeconds) console.log(`COPY alone: ${Math.round(deals / copySeconds)} rows a second\n`)
  console.log(
    '| Export | rows a second | MB a second | first byte, s | time, to COPY | get meanwhile p50, p99, most, ms |',
  )
  console.log('|---|--:|--:|--:|--:|--:|')
  for (const [index, figures] of measured.entries()) {
    const seconds = middle(figures.map(one => one.seconds).sort((one, other) => one - other))
    const gets = figures.flatMap(one => one.gets).sort((one, other) => one - other)
    const perSecond = Math.round(deals / seconds)
    const isAimed = index === 0 && copy !== null
    const cells = [
      exports[index]!.name,
      isAimed ? `${perSecond} (aim ${aim} ${perSecond >= aim ? '✓' : '✗'})` : perSecond,
      (figures[0]!.bytes / 1e6 / seconds).toFixed(0),
      (figures[0]!.firstMs / 1000).toFixed(2),
      copySeconds ? (seconds / copySeconds).toFixed(2) : '–',
      [0.5, 0.99, 1].map(part => (gets[Math.ceil(gets.length * part) - 1] ?? 0).toFixed(1)).join(', '),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** Reads an export, and single deals at the same time. */
async function exported(service: Running, query: string): Promise<Figures> {
  const began = performance.now()
  let isOver = false
  const beside = getsUntil(service, () => isOver)
  const { firstMs, bytes } = await read(`${service.url}${path}/export?${query}`)
  const seconds = (performance.now() - began) / 1000
  isOver = true
  return { seconds, bytes, firstMs, gets: await beside }
}

async function getsUntil({ url }: Running, isOver: () => boolean): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  for (let id = 1000; !isOver(); id++) {
    const began = performance.now()
    await read(`${url}${path}/${id}`, agent)
    times.push(performance.now() - began)
    await delay(10)
  }
  agent.destroy()
  return times
}

async function read(url: string, agent?: Agent): Promise<{ firstMs: number; bytes: number }> {
  const began = performance.now()
  const headers = { authorization: `Bearer ${accountTokens[0]}` }
  const asked = get(url, { headers, ...(agent && { agent }) })
  const [reply] = await once(asked, 'response')
  const firstMs = performance.now() - began
  let bytes = 0
  for await (const chunk of reply) bytes += chunk.length
  if (reply.statusCode !== 200 || !reply.complete) throw new Error(`${url}: ${reply.statusCode}`)
  return { firstMs, bytes }
}

/** Seconds that psql takes for the records' texts. */
async function copied(url: string): Promise<number> {
  const began = performance.now()
  const copy =
    'COPY (SELECT document FROM deal WHERE account_id = 1 AND deleted_at IS NULL ORDER BY id) TO STDOUT'
  const child = spawn('psql', ['--no-psqlrc', '-q', '-c', copy, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const _ of child.stdout);
  return (performance.now() - began) / 1000
}
