/**
 * The same statements through the driver alone, to measure the overhead of HTTP, validation and everything
 * else. A process of its own.
 */
import { openDatabase } from '../src/db/open.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { Slice } from './slice.ts'

export type Statement = {
  readonly text: string
  /** {id} becomes a random id, {account} a random account */
  readonly params: readonly (string | null)[]
  readonly isWrite: boolean
  /** True if it is planned anew each time, as by the service */
  readonly isReplanned?: boolean
}

type Job = {
  /** run one after the other for each request */
  readonly statements: readonly Statement[]
  readonly ids: readonly [from: number, to: number]
  readonly accounts: readonly [from: number, to: number]
}

export type DriverOrders = {
  readonly open: { url?: string; dataDir?: string }
  readonly inFlight: number
  /** seconds of uncounted runs before each job */
  readonly warmUp: number
  /** seconds of measuring, or until a job was done once */
  readonly seconds: number
  readonly jobs: readonly Job[]
}

const orders = JSON.parse(process.argv[2]!) as DriverOrders
const { inFlight } = orders
const db = await openDatabase({ ...orders.open, ...timeouts(), log: () => {} })
const slices: { count: number; seconds: number }[] = []
for (const job of orders.jobs) slices.push(await carryOut(job))
process.stdout.write(JSON.stringify(slices))
await db.close()

/** Runs a job for the measured time and counts its runs. */
async function carryOut(job: Job): Promise<{ count: number; seconds: number }> {
  const slice = new Slice(orders)
  let count = 0
  const worker = async () => {
    for (let now = performance.now(); !slice.isOver(now); ) {
      await once(job)
      now = performance.now()
      if (slice.counts(now)) count++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { count, seconds: slice.seconds }
}

async function once({ statements, ids, accounts }: Job): Promise<void> {
  const [id, account] = [oneOf(ids), oneOf(accounts)]
  for (const { text, params, isWrite, isReplanned } of statements) {
    const real = params.map(param => (param === '{id}' ? id : param === '{account}' ? account : param))
    const rows = await (isWrite
      ? db.write(account, [{ text, values: real }])
      : db.query(text, real, isReplanned))
    if (rows.length !== 1) throw new Error(`${rows.length} rows from ${text}`)
  }
}

function oneOf([from, to]: readonly [number, number]): string {
  return String(from + Math.floor(Math.random() * (to - from + 1)))
}
