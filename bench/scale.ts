/**
 * `npm run bench:scale [-- --steps workers,pooler,replica,cluster --seconds 1 --turns 10 --deals 5000
 * --in-flight 32]`: each step of docs/scaling.md beside one process on one PostgreSQL server, in turns of one
 * run: two WORKERS, PgBouncer in front of the server, a replica, and a Citus cluster of two nodes, all on
 * this machine. Prints the throughput and the processor time of a request as ratios to those of one process.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { startOwnCluster } from '../test/support/cluster.ts'
import { poolerVersion, startPooler } from '../test/support/pooler.ts'
import { startReplica } from '../test/support/postgres.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import { accountTokens, type Case, cases, prepareDeals } from './prepare.ts'
import { startService } from './processes.ts'
import { onServer } from './server.ts'
import { type Candidate, compare, type Ratio } from './turns.ts'

/** Name → prepares the step on an empty database; null if it can't be carried out here. */
const steps: { readonly [name: string]: (url: string) => Promise<Candidate | null> } = {
  workers: url => candidate(url, { WORKERS: '2' }),
  pooler: async url => {
    if (!poolerVersion()) return null
    const items = await prepared(url)
    const pooler = await startPooler(url, 8)
    return { items, service: await started(pooler.url, { DATABASE_POOLER: '1' }) }
  },
  replica: async url => {
    const items = await prepared(url)
    const readUrl = new URL((await startReplica(url))!.url)
    readUrl.pathname = new URL(url).pathname
    return { items, service: await started(url, { DATABASE_READ_URL: readUrl.href }) }
  },
  cluster: async () => {
    const cluster = await startOwnCluster()
    if (!cluster) return null
    const items = await prepared(cluster.url)
    const env = { ...process.env, DATABASE_URL: cluster.url, DATA_DIR: directory }
    execFileSync(process.execPath, ['bin/dealwright.js', 'distribute', '--shards', '4'], { env })
    return { items, service: await started(cluster.url) }
  },
}

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: Object.keys(steps).join() },
    seconds: { type: 'string', default: '1' },
    turns: { type: 'string', default: '10' },
    deals: { type: 'string', default: '5000' },
    'in-flight': { type: 'string', default: '32' },
  },
})
const chosen = values.steps.split(',')
const unknown = chosen.filter(name => !(name in steps))
if (unknown.length) throw new Error(`There is no step ${unknown}, but ${Object.keys(steps).join(', ')}`)
const directory = ownDirectory()
sayMachine()
await onServer<[string, ...string[]]>(async (url, ...others) => {
  const one = await candidate(url)
  const ratios: Ratio[] = []
  for (const [index, name] of chosen.entries()) {
    const step = await steps[name]!(others[index]!)
    if (step) ratios.push([name, step, one])
    else console.log(`What ${name} needs is not installed here.`)
  }
  const turns = { turns: Number(values.turns), seconds: Number(values.seconds) }
  const candidates = ratios.map(([, step]) => step)
  await compare('To one process', [one, ...candidates], ratios, {
    ...turns,
    inFlight: Number(values['in-flight']),
  })
}, chosen.length + 1)
process.exit(0)

async function candidate(url: string, settings = {}): Promise<Candidate> {
  return { items: await prepared(url), service: await started(url, settings) }
}

async function prepared(url: string): Promise<readonly Case[]> {
  return cases(await prepareDeals({ url }, Number(values.deals)))
}

function started(url: string, settings = {}) {
  const token = accountTokens[0]!
  return startService({ DATABASE_URL: url, DATA_DIR: directory, DEALWRIGHT_TOKEN: token, ...settings })
}
