/**
 * `npm run bench:versions -- --other DIRECTORY [--seconds 1 --turns 10 --engine postgres,embedded]`: reads,
 * lists, creates and updates over HTTP by this version of the service, by another in a checkout of its own,
 * and by the hand-written endpoint, in turns of one run. On PostgreSQL, `--workers 2` gives this version that
 * many WORKERS, and `--pooler 1` puts PgBouncer, with that DATABASE_POOLER, before the server. Prints the
 * throughput and the processor time of a request (of the service and of all PostgreSQL on the machine, if the
 * system reports it) as ratios. See docs/performance.md.
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startPooler } from '../test/support/pooler.ts'
import { middle, ownDirectory, sayMachine } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens, type Case, cases } from './prepare.ts'
import { ask, type Running, spent, spentBetween, startProcess, startService } from './processes.ts'
import { onServer } from './server.ts'

const { values } = parseArgs({
  options: {
    other: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    turns: { type: 'string', default: '10' },
    deals: { type: 'string', default: '5000' },
    engine: { type: 'string', default: 'postgres,embedded' },
    pooler: { type: 'string' },
    workers: { type: 'string', default: '1' },
  },
})
if (!values.other) throw new Error('--other names the directory of another version')
const [here, other] = [join(import.meta.dirname, '..'), resolve(values.other)]
const [seconds, turns] = [Number(values.seconds), Number(values.turns)]
const inFlight = 32
const workers = { WORKERS: values.workers }

type Candidate = { readonly name: string; readonly service: Running; readonly items: readonly Case[] }
type Turn = Figures & { readonly processorMs: number }
type Opened = { url: string } | { dataDir: string }

const directory = ownDirectory()
sayMachine()
if (values.engine.includes('postgres'))
  await onServer<[string, string, string]>(async (url, otherUrl, plainUrl) => {
    const own = values.pooler
      ? await pooled(url, values.pooler)
      : await candidate('this version', here, { url }, workers)
    const before = await candidate('the other version', other, { url: otherUrl })
    // A shared database would get the rows that its writes leave behind.
    const items = await casesOn({ url: plainUrl }, here)
    const plain = await startProcess('bench/plain.ts', { DATABASE_URL: plainUrl })
    await compare('PostgreSQL', [own, before, { name: 'plain Fastify + pg', service: plain, items }])
  }, 3)
if (values.engine.includes('embedded'))
  await compare('Embedded', [
    await candidate('this version', here, { dataDir: join(directory, 'this') }),
    await candidate('the other version', other, { dataDir: join(directory, 'other') }),
  ])
process.exit(0)

/** This version behind PgBouncer, with this DATABASE_POOLER; its deals are created directly. */
async function pooled(url: string, setting: string): Promise<Candidate> {
  const items = await casesOn({ url }, here)
  const pooler = await startPooler(url, 8)
  const settings = { DATABASE_URL: pooler.url, DATABASE_POOLER: setting }
  const token = { DEALWRIGHT_TOKEN: accountTokens[0]! }
  const service = await startService({ ...settings, ...workers, ...token, DATA_DIR: directory }, here)
  return { name: 'this version behind PgBouncer', service, items }
}

/** The service of a version, on deals created by the same version. */
async function candidate(name: string, root: string, open: Opened, settings = {}): Promise<Candidate> {
  const items = await casesOn(open, root)
  const place = 'url' in open ? { DATABASE_URL: open.url, DATA_DIR: directory } : { DATA_DIR: open.dataDir }
  const token = { DEALWRIGHT_TOKEN: accountTokens[0]! }
  const service: Running = await startService({ ...place, ...settings, ...token }, root)
  return { name, service, items }
}

/** The cases on deals that the version in `root` creates. */
async function casesOn(open: Opened, root: string): Promise<readonly Case[]> {
  const { prepareDeals } = (await import(join(root, 'bench/prepare.ts'))) as typeof import('./prepare.ts')
  return cases(await prepareDeals(open, Number(values.deals)))
}

async function compare(title: string, candidates: readonly Candidate[]): Promise<void> {
  const others = candidates.slice(1).map(({ name }) => name)
  const head = ['Request', 'p50 ms', 'p99 ms', ...others.map(name => `of ${name}`)]
  head.push(...others.map(name => `processor time, of ${name}`))
  const rows = [head, head.map((_cell, index) => (index ? '--:' : '---'))]
  for (const index of candidates[0]!.items.keys()) {
    const found = candidates.map((): Turn[] => [])
    for (const each of candidates) await load(each, index, Math.min(1, seconds))
    for (let turn = 0; turn < turns; turn++) {
      const order = candidates.map((_each, at) => (at + turn) % candidates.length)
      for (const at of turn % 2 ? order.reverse() : order)
        found[at]!.push(await load(candidates[at]!, index, seconds))
    }
    const ratios = (figure: (of: Turn) => number) =>
      found
        .slice(1)
        .map(turns => spread(turns.map((other, turn) => figure(found[0]![turn]!) / figure(other))))
    const latencies = found[0]!.flatMap(figures => figures.latencies).sort((a, b) => a - b)
    const part = (of: number) => latencies[Math.floor(latencies.length * of)]!.toFixed(1)
    rows.push([
      ...[candidates[0]!.items[index]!.name, part(0.5), part(0.99)],
      ...ratios(({ count, seconds }) => count / seconds),
      ...ratios(({ count, processorMs }) => processorMs / count),
    ])
  }
  const text = rows.map(cells => `| ${cells.join(' | ')} |`).join('\n')
  console.log(`\n${title}, ${inFlight} in flight, ${turns} turns of ${seconds} s\n\n${text}`)
}

/** The median, minimum and maximum of the ratios. */
function spread(ratios: number[]): string {
  const sorted = ratios.sort((a, b) => a - b)
  return `${middle(sorted).toFixed(2)} (${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)})`
}

async function load({ name, service, items }: Candidate, index: number, seconds: number): Promise<Turn> {
  const { method, path, plainPath, ids, body, accounts } = items[index]!
  const before = spent(service)
  const figures = await ask<Figures>('bench/load.ts', {
    ...{ port: Number(new URL(service.url).port), connections: inFlight, seconds, method, ids, body },
    path: name.startsWith('plain') ? plainPath : path,
    tokens: accountTokens.slice(accounts[0] - 1, accounts[1]),
    warmUp: 0,
  } satisfies Orders)
  return { ...figures, processorMs: spentBetween(before, spent(service)) }
}
