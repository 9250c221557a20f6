/**
 * Four worker processes behind PgBouncer, with a replica. Each round kills one of them, or the database, or
 * lets the replica fall behind, or restarts the workers one by one; eight clients write meanwhile, and read
 * what they wrote. Nothing may be lost, done twice or missing from a list; a restart and a replica that is
 * behind may cost no request (docs/scaling.md).
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask as askDatabase } from '../support/citus.ts'
import { eventually } from '../support/eventually.ts'
import { poolerVersion, startPooler, type TestPooler } from '../support/pooler.ts'
import { startReplica, type TestServer } from '../support/postgres.ts'
import { besideWrites, lastingClient, noExperience } from './lasting-client.ts'
import type { Scenario } from './on-engines.ts'
import { end, type Life, started, token } from './service-process.ts'
import { Known, verify } from './writes.ts'

type Parts = {
  readonly service: Life
  readonly pooler: TestPooler
  readonly primary: TestServer
  readonly replica: TestServer
}

/** How long something is away, in milliseconds. */
const awayMs = 1000

/** Name → the disturbance, and true if no request may fail meanwhile. */
const disturbances: readonly [string, (parts: Parts) => Promise<unknown>, boolean][] = [
  ['a killed worker', killWorker, false],
  ['a killed pooler', ({ pooler }) => killed(pooler), false],
  ['a killed replica', ({ replica }) => killed(replica), true],
  ['a killed database', ({ primary }) => killed(primary), false],
  ['a restart of the workers', restarted, true],
  ['a replica that is behind', ({ replica }) => paused(replica), true],
]

/** Kills a server, and starts it again after a time. */
export async function killed(server: TestServer | TestPooler, ms = awayMs): Promise<void> {
  await server.kill9()
  await sleep(ms)
  await server.restart()
}

/** Restarts the workers one after the other, until none of the former runs. */
async function restarted({ service }: Parts): Promise<void> {
  const former = workersOf(service)
  service.service.kill('SIGHUP')
  await eventually(() => !workersOf(service).some(one => former.includes(one)), 'new workers')
}

export async function killWorker({ service }: { readonly service: Life }): Promise<void> {
  process.kill(workersOf(service)[0]!, 'SIGKILL')
}

async function paused(replica: TestServer): Promise<void> {
  await askDatabase(replica.url, 'SELECT pg_wal_replay_pause()')
  await sleep(awayMs)
  await askDatabase(replica.url, 'SELECT pg_wal_replay_resume()')
}

function workersOf({ service: { pid } }: Life): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

export const processes: Scenario = {
  rounds: disturbances.length,
  engines: ['postgres'],
  needs: poolerVersion() ? null : 'PgBouncer',
  zero: ['lost', 'duplicated', 'halfWritten', 'refused', 'stale', 'failed'],
  some: ['acknowledged', 'reads'],
  async act({ env, open, server }, rounds, say) {
    const primary = server!
    const { url } = open as { url: string }
    const replica = (await startReplica(primary.url))!
    const pooler = await startPooler(url, 16)
    const readUrl = new URL(replica.url)
    readUrl.pathname = new URL(url).pathname
    const known = new Known()
    const experience = noExperience()
    let failed = 0
    const service = await started({
      ...{ ...env, DATABASE_URL: pooler.url, DATABASE_POOLER: '1', DATABASE_READ_URL: readUrl.href },
      ...{ WORKERS: '4' },
    })
    const counts = () => ({ ...known.tally, ...experience, failed })
    try {
      for (let round = 0; round < rounds; round++) {
        const [name, disturb, isUnseen] = disturbances[round % disturbances.length]!
        const before = experience.again
        const writers = Array.from({ length: 8 }, () => ({
          send: lastingClient(service.url, token, experience),
          known,
        }))
        await besideWrites(writers, round, () => disturb({ service, pooler, primary, replica }))
        if (isUnseen) failed += experience.again - before
        await verify({ url }, known)
        say(`${name}: ${JSON.stringify(counts())}`)
      }
    } finally {
      await end(service, 'SIGTERM')
      await pooler.stop()
      await replica.stop()
    }
    return counts()
  },
}
