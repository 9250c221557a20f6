/**
 * A Citus cluster with an account on each of two nodes. Each round kills the node of the second account, a
 * worker process or the coordinator, or moves the second account; four clients of each account write
 * meanwhile. Nothing may be lost or done twice, and whatever happens to the second account's node may cost
 * the first one no request (docs/scaling.md).
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ask as askDatabase } from '../support/citus.ts'
import { type OwnCluster, startOwnCluster } from '../support/cluster.ts'
import { hasLibrary, type TestServer } from '../support/postgres.ts'
import { besideWrites, lastingClient, noExperience } from './lasting-client.ts'
import type { Scenario } from './on-engines.ts'
import { killed, killWorker } from './processes.ts'
import { end, type Life, started, token } from './service-process.ts'
import { Known, verify } from './writes.ts'

const run = promisify(execFile)

/** Runs a command of the program. Resolves to its answer as JSON. */
type Command = (...args: string[]) => Promise<{ readonly [name: string]: string }>

type Parts = { readonly service: Life; readonly cluster: OwnCluster; readonly command: Command }

/** How long a server is away, in milliseconds. */
const awayMs = 3000

/** Name → the disturbance, and true if no request of the first account may fail meanwhile. */
const disturbances: readonly [string, (parts: Parts) => Promise<unknown>, boolean][] = [
  ['a killed node', async parts => killed(await nodeOf(parts, 2), awayMs), true],
  ['a move of an account and back', moved, true],
  ['a killed worker', killWorker, false],
  ['a killed coordinator', ({ cluster }) => killed(cluster.coordinator, awayMs), false],
]

async function nodeOf({ cluster, command }: Parts, account: number): Promise<TestServer> {
  const { node } = await command('account', 'place', '--account', `${account}`)
  return cluster.workers.find(({ url }) => new URL(url).host === node)!
}

/** Moves the second account to the node of the first one, and back. */
async function moved(parts: Parts): Promise<void> {
  for (const to of [await nodeOf(parts, 1), await nodeOf(parts, 2)]) await move(parts, to)
}

async function move({ command }: Parts, to: TestServer): Promise<void> {
  await command('account', 'move', '--account', '2', '--to', new URL(to.url).host)
}

export const cluster: Scenario = {
  rounds: 2 * disturbances.length,
  engines: ['postgres'],
  needs: hasLibrary('citus') ? null : 'Citus',
  zero: ['lost', 'duplicated', 'halfWritten', 'refused', 'stale', 'failed'],
  some: ['acknowledged', 'acknowledgedOfOther'],
  async act({ env: own }, rounds, say) {
    const cluster = (await startOwnCluster())!
    const env = { ...own, DATABASE_URL: cluster.url }
    const command: Command = async (...args) => {
      const { stdout } = await run(process.execPath, ['bin/dealwright.js', ...args, '--json'], { env })
      return JSON.parse(stdout)
    }
    // A move needs it.
    for (const worker of cluster.workers) {
      await askDatabase(worker.url, "ALTER SYSTEM SET wal_level = 'logical'")
      await worker.restart()
    }
    await command('migrate')
    await command('distribute', '--shards', '4')
    const service = await started({ ...env, WORKERS: '2' })
    const parts = { service, cluster, command }
    const owner = ['--owner-name', 'Owner', '--owner-email', 'other@example.com']
    const other = await command('account', 'create', '--name', 'Other', ...owner)
    const first = await nodeOf(parts, 1)
    if ((await nodeOf(parts, 2)) === first) await move(parts, cluster.workers.find(one => one !== first)!)
    const accounts = [token, other.token!].map(token => {
      const experience = noExperience()
      return { experience, known: new Known(), send: lastingClient(service.url, token, experience) }
    })
    const [known, knownOfOther] = accounts.map(account => account.known) as [Known, Known]
    let failed = 0
    const counts = () => {
      const [tally, ofOther] = accounts.map(one => ({ ...one.known.tally, ...one.experience }))
      const sums = Object.entries(tally!).map(([name, count]) => [name, count + ofOther![name as 'lost']])
      const { rounds, acknowledged: acknowledgedOfOther } = ofOther!
      return { ...Object.fromEntries(sums), rounds, failed, acknowledgedOfOther }
    }
    try {
      for (let round = 0; round < rounds; round++) {
        const [name, disturb, isUnseen] = disturbances[round % disturbances.length]!
        const before = accounts[0]!.experience.again
        const writers = accounts.flatMap(account => [account, account, account, account])
        await besideWrites(writers, round, () => disturb(parts))
        if (isUnseen) failed += accounts[0]!.experience.again - before
        await verify({ url: cluster.url }, known)
        await verify({ url: cluster.url }, knownOfOther, 2)
        say(`${name}: ${JSON.stringify(counts())}`)
      }
    } finally {
      await end(service, 'SIGTERM')
      await cluster.stop()
    }
    return counts()
  },
}
