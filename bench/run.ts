/**
 * `npm run bench [-- --seconds 5 --deals 100000]`: the service over HTTP against the limits of its own database, side by side in one run.
 * Prints ratios; the absolute figures are this machine's and this minute's. See docs/performance.md.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs, promisify } from 'node:util'
import { createDatabase, startPostgres } from '../test/support/postgres.ts'
import type { DriverOrders, Statement } from './driver.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens, type Case, cases, type Prepared, prepareDeals } from './prepare.ts'

const run = promisify(execFile)
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, deals: { type: 'string', default: '100000' } },
})
const seconds = Number(values.seconds)
const deals = Number(values.deals)
const inFlight = 32

const directory = mkdtempSync(join(tmpdir(), 'dealwright-bench-'))
try {
  await startTimes()
  await benchServer()
  await benchEmbedded()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** How long the first and a later start of an empty directory take, sample data and all. */
async function startTimes(): Promise<void> {
  const env = { DATA_DIR: join(directory, 'start'), SAMPLE_DATA: '1' }
  const first = await startService(env)
  await stop(first.process)
  const later = await startService(env)
  await stop(later.process)
  console.log(
    `\nFirst start ${first.seconds} s (aim 6 s), later start ${later.seconds} s (aim 1.5 s), embedded, with sample data.`,
  )
}

async function benchServer(): Promise<void> {
  const given = process.env.BENCH_DATABASE_URL
  const server = given ? null : await startPostgres()
  if (!given && !server) return console.log('PostgreSQL is not installed here; set BENCH_DATABASE_URL to measure it.')
  try {
    const url = await createDatabase(given ?? server!.url)
    const prepared = await prepareDeals({ url }, deals)
    const plain = await startProcess('bench/plain.ts', { DATABASE_URL: url })
    const service = await startService({ DATABASE_URL: url, DATA_DIR: directory, DEALWRIGHT_TOKEN: accountTokens[0]! })
    const rows: string[] = []
    for (const item of cases(prepared)) {
      const ours = await load(service.url, item, prepared, item.path)
      const alone = item.isSpread ? null : await driver({ url }, item, prepared)
      const hand = item.plainPath ? await load(plain.url, item, prepared, item.plainPath) : null
      const limit = item.isSpread ? null : await pgbench(url, item, prepared)
      rows.push(row(item, ours, limit, alone, hand))
    }
    await stop(service.process)
    await stop(plain.process)
    print(`PostgreSQL, ${deals} deals`, rows)
  } finally {
    await server?.stop()
  }
}

async function benchEmbedded(): Promise<void> {
  const dataDir = join(directory, 'embedded')
  const prepared = await prepareDeals({ dataDir }, deals)
  const rows: string[] = []
  const service = await startService({ DATA_DIR: dataDir, DEALWRIGHT_TOKEN: accountTokens[0]! })
  const measured: [Case, Figures][] = []
  for (const item of cases(prepared)) measured.push([item, await load(service.url, item, prepared, item.path)])
  await stop(service.process)
  for (const [item, ours] of measured)
    rows.push(row(item, ours, null, item.isSpread ? null : await driver({ dataDir }, item, prepared), null))
  print(`Embedded, ${deals} deals (one process at a time may open it: service first, driver after)`, rows)
}

function row({ name, aims }: Case, ours: Figures, limit: number | null, alone: number | null, hand: Figures | null): string {
  const ratio = (other: number | null | undefined, aim?: number) => {
    if (!other) return '–'
    const value = ours.perSecond / other
    return aim === undefined ? value.toFixed(2) : `${value.toFixed(2)} (aim ${aim} ${value >= aim ? '✓' : '✗'})`
  }
  const cells = [
    name,
    Math.round(ours.perSecond),
    ours.p50.toFixed(1),
    ours.p99.toFixed(1),
    ratio(limit, aims.pgbench),
    ratio(alone),
    ratio(hand?.perSecond, aims.plain),
  ]
  return `| ${cells.join(' | ')} |`
}

function print(title: string, rows: readonly string[]): void {
  console.log(`\n${title}, ${inFlight} in flight, ${seconds} s each\n`)
  console.log(
    '| Request | per second | p50 ms | p99 ms | of pgbench | of the driver alone | of plain Fastify + pg |\n|---|--:|--:|--:|--:|--:|--:|',
  )
  console.log(rows.join('\n'))
}

/** One case over HTTP, after a short warm-up. */
async function load(url: string, item: Case, { ids }: Prepared, path: string): Promise<Figures> {
  const orders = (time: number): Orders => ({
    port: Number(new URL(url).port),
    connections: inFlight,
    seconds: time,
    method: item.method,
    path,
    ids,
    body: item.body,
    tokens: item.isSpread ? accountTokens : accountTokens.slice(0, 1),
  })
  await child('bench/load.ts', orders(1))
  return child('bench/load.ts', orders(seconds))
}

async function driver(open: DriverOrders['open'], item: Case, { ids }: Prepared): Promise<number> {
  const { perSecond } = await child<{ perSecond: number }>('bench/driver.ts', {
    open,
    seconds,
    statements: item.statements,
    ids,
  } satisfies DriverOrders)
  return perSecond
}

async function child<T>(file: string, orders: object): Promise<T> {
  const { stdout } = await run(process.execPath, [file, JSON.stringify(orders)], { maxBuffer: 1 << 20 })
  return JSON.parse(stdout) as T
}

/** The same statements under pgbench, prepared; null where it is not installed. */
async function pgbench(url: string, item: Case, { ids }: Prepared): Promise<number | null> {
  const script = join(directory, 'script.sql')
  writeFileSync(
    script,
    `\\set id random(${ids[0]}, ${ids[1]})\n${item.statements.map(statement => `${literal(statement)};`).join('\n')}\n`,
  )
  const options = ['-n', '-M', 'prepared', '-c', '16', '-j', '2', '-T', String(seconds), '-f', script, url]
  try {
    const { stdout } = await run('pgbench', options, { maxBuffer: 1 << 20 })
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Parameters as literals. pgbench takes every colon and word for a variable, also in a literal: a text with a colon is written in
 * base64 and decoded by constant functions, which the planner folds.
 */
function literal({ text, params }: Statement): string {
  const quoted = (value: string) =>
    value.includes(':')
      ? `convert_from(decode('${Buffer.from(value).toString('base64')}', 'base64'), 'UTF8')`
      : `'${value.replaceAll("'", "''")}'`
  const filled = text.replace(/'[^']*'|\$(\d+)/g, (match, number?: string) => {
    if (number === undefined) return match.includes(':') ? quoted(match.slice(1, -1)) : match
    const param = params[Number(number) - 1]!
    return param === null ? 'NULL' : param === '{id}' ? ':id' : quoted(param)
  })
  return filled.replaceAll('\n', ' ')
}

type Running = { process: ChildProcess; url: string; seconds: string }

function startService(env: Record<string, string>): Promise<Running> {
  return startProcess('bin/dealwright.js', { PORT: '0', ...env })
}

async function startProcess(file: string, env: Record<string, string>): Promise<Running> {
  const process_ = spawn(process.execPath, [file], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: process_.stdout! })) {
    const match = /ready at (\S+)(?:.* in ([\d.]+) s)?/.exec(line)
    if (!match) continue
    process_.stdout!.resume()
    return { process: process_, url: match[1]!, seconds: match[2] ?? '' }
  }
  throw new Error(`${file} ended before it was ready`)
}

async function stop(process_: ChildProcess): Promise<void> {
  const gone = new Promise(resolve => process_.on('exit', resolve))
  process_.kill('SIGTERM')
  await gone
}
